/** The end of a run whose declared checks have no passing evidence. */
import { quoteAscii } from './text.ts';

const SHOWN_IDS = 8;

function listed(pending: readonly string[]): string {
  const shown = pending.slice(0, SHOWN_IDS).map(quoteAscii);
  return (pending.length > SHOWN_IDS ? [...shown, '…'] : shown).join(', ');
}

/** Appended to the final answer; empty without pending checks. */
export function completionNotice(pending: readonly string[]): string {
  if (pending.length === 0) return '';
  return `\n\n[odek verification incomplete: ${pending.length} declared acceptance check(s) have no current passing evidence: ${listed(pending)}. Task completion is not verified.]`;
}

export interface CompletionNudge {
  /** The one nudge of a run, asked for when the model is about to finish. `undefined` once given or when nothing is pending. */
  take(pending: readonly string[]): string | undefined;
}

/** One a run. */
export function createCompletionNudge(): CompletionNudge {
  let given = false;
  return {
    take(pending) {
      if (given || pending.length === 0) return undefined;
      given = true;
      return `[odek: ${pending.length} declared acceptance check(s) are pending or failed: ${listed(pending)}. Run each check's exact tool call now and complete its step when it has passed; if a check cannot run, say in your answer that the task is unverified.]`;
    },
  };
}
