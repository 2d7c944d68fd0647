import type { Message } from '../../../ports/message.ts';

/** Steps of the task; every third one asks for three marks in one batch. */
export const STEPS = 24;

interface ScriptedCall {
  readonly id: string;
  readonly name: 'effect';
}

function marksOf(step: number): readonly string[] {
  return step % 3 === 0 ? [0, 1, 2].map((part) => `s${step}p${part}`) : [`s${step}p0`];
}

/** Marks whose call has a result that is not "never executed". */
export function settledMarks(messages: readonly Message[]): ReadonlySet<string> {
  return new Set(
    messages.flatMap((message) => (message.role === 'tool' && message.outcome !== 'cancelled' ? [message.callId.split('#')[0] ?? ''] : [])),
  );
}

/** The first step with marks that are not settled; asked for with ids that were never used before. */
export function nextCalls(messages: readonly Message[]): readonly ScriptedCall[] {
  const settled = settledMarks(messages);
  const attempt = messages.filter((message) => message.role === 'tool' && message.outcome === 'cancelled').length;
  for (let step = 1; step <= STEPS; step += 1) {
    const open = marksOf(step).filter((mark) => !settled.has(mark));
    if (open.length > 0) return open.map((mark) => ({ id: attempt === 0 ? mark : `${mark}#${attempt}`, name: 'effect' }));
  }
  return [];
}
