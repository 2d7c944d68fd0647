import { createLineInput } from '../../adapters/approver/line-input.ts';
import { controllingTerminal, type Terminal } from '../../adapters/approver/terminal.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError } from '../../ports/errors.ts';

/** A question to the operator about something that a server brings. */
export interface ConsentRequest {
  /** Everything there is to know, safe to show. */
  readonly card: string;
  /** What may be said yes to, numbered from 1 on the card. One: a plain yes or no. */
  readonly count: number;
  /** Ends with a question mark. */
  readonly question: string;
}

/** Answers with the numbers that are approved; none means no. Rejects with `CancelledError` when `signal` fires. */
export type Consent = (request: ConsentRequest, signal: AbortSignal) => Promise<readonly number[]>;

const TIMEOUT_MS = 10 * 60_000;
const MAX_TRIES = 3;

/** Asks at the controlling terminal, whatever the streams are. Silence for ten minutes and the end of the input mean no. */
export async function askConsent(
  request: ConsentRequest,
  signal: AbortSignal,
  clock: Pick<Clock, 'after'>,
  terminal: () => Terminal = controllingTerminal,
): Promise<readonly number[]> {
  if (signal.aborted) throw new CancelledError();
  const { input, output, close } = terminal();
  const lines = createLineInput(input);
  const silence = Promise.withResolvers<undefined>();
  const cancelled = Promise.withResolvers<never>();
  const abort = (): void => cancelled.reject(new CancelledError());
  const stopTimer = clock.after(TIMEOUT_MS, () => silence.resolve(undefined));
  signal.addEventListener('abort', abort, { once: true });
  lines.open();
  try {
    output.write(`\n${request.card}\n`);
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      output.write(`${request.question} ${request.count === 1 ? '[y/N]' : '[y/N, or numbers such as 1,3-5]'} `);
      const line = await Promise.race([lines.next(), silence.promise, cancelled.promise]);
      if (line === undefined || 'ended' in line) {
        output.write('\n');
        return [];
      }
      const chosen = chosenOf(line.text, request.count);
      if (chosen !== undefined) return chosen;
      output.write(`Numbers go from 1 to ${request.count}.\n`);
    }
    return [];
  } finally {
    stopTimer();
    signal.removeEventListener('abort', abort);
    lines.close();
    close?.();
  }
}

/** The numbers that an answer approves; undefined for one that has to be given again. Exported for its tests. */
export function chosenOf(answer: string, count: number): readonly number[] | undefined {
  const text = answer.trim().toLowerCase();
  if (text === 'y' || text === 'yes') return Array.from({ length: count }, (_, at) => at + 1);
  if (!/^\d[\d\s,-]*$/.test(text)) return [];
  const chosen = new Set<number>();
  for (const part of text.split(/[\s,]+/).filter((each) => each !== '')) {
    const [, from = '', to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(part) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === '' || first < 1 || last < first || last > count) return undefined;
    for (let each = first; each <= last; each += 1) chosen.add(each);
  }
  return [...chosen].sort((a, b) => a - b);
}
