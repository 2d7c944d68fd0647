/** What came of a question. */
export type Clarification =
  | { readonly kind: 'answered'; readonly text: string }
  /** The person did not answer: nothing was written, the input ended, or the time was up. */
  | { readonly kind: 'unanswered'; readonly reason: 'empty' | 'ended' | 'timeout' };

export interface Question {
  /** Already made safe to show. */
  readonly text: string;
  readonly timeoutMs: number;
  /** The run that asks, as in `ToolExecution.runId`. */
  readonly run?: string | undefined;
}

/**
 * A person who can be asked something in the middle of a run (DECISIONS 19). An answer is text, never
 * an approval.
 *
 * Contract (the `clarifier` suite):
 * - `ask` gives the person's words, without the line end and the spaces around them.
 * - Silence is `unanswered`: an empty line, the end of the input, or the time limit, each by its name.
 * - When `signal` fires while waiting, or has fired, it rejects with `CancelledError`.
 * - Questions are shown one at a time, in the order they came.
 */
export interface Clarifier {
  ask(question: Question, signal: AbortSignal): Promise<Clarification>;
}
