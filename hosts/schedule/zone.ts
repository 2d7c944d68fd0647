const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** A zone changes its clocks a few times a year; more is no calendar. */
const MAX_CHANGES = 40;

const formats = new Map<string, Intl.DateTimeFormat>();

function formatOf(timezone: string): Intl.DateTimeFormat {
  let format = formats.get(timezone);
  if (format === undefined) {
    format = new Intl.DateTimeFormat('en-US', {
      timeZone: timezone,
      hourCycle: 'h23',
      weekday: 'short',
      ...({ year: 'numeric', month: '2-digit', day: '2-digit', hour: '2-digit', minute: '2-digit', second: '2-digit' } as const),
    });
    formats.set(timezone, format);
  }
  return format;
}

function partsOf(instant: number, timezone: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    formatOf(timezone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, value]),
  );
}

/** Milliseconds that the zone's clocks are ahead of UTC. */
function offsetAt(instant: number, timezone: string): number {
  const { year, month, day, hour, minute, second } = partsOf(instant, timezone);
  const civil = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  return civil - Math.floor(instant / 1000) * 1000;
}

function offsetText(offset: number): string {
  const minutes = Math.abs(Math.round(offset / MINUTE_MS));
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${offset < 0 ? '-' : '+'}${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
}

/** `2026-03-29 03:00 +02:00 Sun`, as the clocks of the zone show it. */
export function zonedText(instant: number, timezone: string): string {
  const { year, month, day, hour, minute, weekday } = partsOf(instant, timezone);
  return `${year}-${month}-${day} ${hour}:${minute} ${offsetText(offsetAt(instant, timezone))} ${weekday}`;
}

function clockText(instant: number, offset: number): string {
  return new Date(instant + offset).toISOString().slice(11, 16);
}

/** A change of a zone's clocks. */
export interface ClockChange {
  readonly at: number;
  /** Milliseconds; more than 0 leaves a gap, less repeats a time. */
  readonly by: number;
  /** What happens, in words. */
  readonly text: string;
}

function changeAt(at: number, before: number, after: number): ClockChange {
  const by = after - before;
  const [from, to] = [clockText(at, before), clockText(at, after)];
  const day = new Date(at + after).toISOString().slice(0, 10);
  const what =
    by > 0
      ? `clocks go forward on ${day} from ${from} to ${to}: a fixed time in between is due at ${to}`
      : `clocks go back on ${day} from ${from} to ${to}: a fixed time from ${to} to ${from} is due once, the first time it comes`;
  return { at, by, text: what };
}

/** Changes of a zone's clocks after `from` and up to `until`, in order; at most 40. */
export function clockChanges(from: number, until: number, timezone: string): readonly ClockChange[] {
  const found: ClockChange[] = [];
  for (let at = from; at < until && found.length < MAX_CHANGES; at += DAY_MS) {
    const end = Math.min(at + DAY_MS, until);
    const [before, after] = [offsetAt(at, timezone), offsetAt(end, timezone)];
    if (before === after) continue;
    let [low, high] = [at, end];
    while (high - low > MINUTE_MS) {
      const middle = Math.floor((low + high) / 2);
      if (offsetAt(middle, timezone) === before) low = middle;
      else high = middle;
    }
    found.push(changeAt(Math.floor(high / MINUTE_MS) * MINUTE_MS, before, after));
  }
  return found;
}

/** Whether the clocks of the zone show this time twice, and which of the two this is. */
export function repeatOf(instant: number, timezone: string): 'first' | 'second' | undefined {
  const [change] = clockChanges(instant - 3 * HOUR_MS, instant + 3 * HOUR_MS, timezone).filter(({ by }) => by < 0);
  if (change === undefined) return undefined;
  if (instant < change.at && instant >= change.at + change.by) return 'first';
  return instant >= change.at && instant < change.at - change.by ? 'second' : undefined;
}
