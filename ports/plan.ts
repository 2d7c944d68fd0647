/** What the model reads of a plan call, and whether the call was refused. */
export interface PlanReply {
  readonly content: string;
  readonly failed: boolean;
}

/**
 * The plan of the running agent, for the `plan` tool (DECISIONS 19).
 *
 * Contract (the `plan-control` suite):
 * - `execute` takes the call's raw JSON text, or a value that was parsed from it; a string is always raw text.
 *   Raw text is preferred: only it keeps number literals (`1.0`) as they were written.
 * - It settles for every input and never rejects: a refused call is `failed` with a text that ends in a correct call.
 * - A refused call leaves the plan as it was.
 * - An accepted call answers with the plan as it is then.
 * - Calls take effect in the order in which `execute` was called, each as a whole.
 */
export interface PlanControl {
  execute(args: unknown): Promise<PlanReply>;
}
