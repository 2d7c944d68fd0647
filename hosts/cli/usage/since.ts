import { ConfigError } from '../../../ports/errors.ts';

const DAY_MS = 86_400_000;
const UNIT_MS: Readonly<Record<string, number>> = { h: 3_600_000, d: DAY_MS, w: 7 * DAY_MS };
const AGE = /^(\d{1,5})([hdw])$/;
const DATE = /^(\d{4})-(\d{2})-(\d{2})$/;

function localDay(year: number, month: number, day: number): number | undefined {
  const date = new Date(year, month - 1, day);
  return date.getMonth() === month - 1 && date.getDate() === day ? date.getTime() : undefined;
}

/** The start of the day in which `time` lies, in the machine's time zone. */
function midnight(time: number): number {
  return new Date(time).setHours(0, 0, 0, 0);
}

/**
 * Reads `7d`, `12h`, `2w`, `2026-09-30` or `all` (0). Days and weeks begin at midnight, today counted
 * in. Throws {@link ConfigError} `invalid_since`.
 */
export function readSince(text: string, now: number): number {
  if (text === 'all') return 0;
  const [, count, unit = ''] = AGE.exec(text) ?? [];
  if (count !== undefined) {
    const from = now - Number(count) * (UNIT_MS[unit] ?? DAY_MS);
    return unit === 'h' ? from : midnight(from + DAY_MS);
  }
  const [, year, month, day] = DATE.exec(text) ?? [];
  const date = year === undefined ? undefined : localDay(Number(year), Number(month), Number(day));
  if (date !== undefined) return date;
  throw new ConfigError('invalid_since', `--since takes an age such as 7d, 12h or 2w, a date such as 2026-09-30, or all; got "${text}"`, {
    value: text,
  });
}
