/** How much of the model's window a request may take, in estimated tokens. */

const SHARE = 0.75;
/** Once the model counted far more than the estimate did. */
const CALIBRATED_SHARE = 0.65;
/** Reported input above this many times the estimate calls for the smaller share. */
const TOLERANCE = 1.15;
/** A trim leaves room, so that many iterations pass before the next one changes the prefix again. */
const ENOUGH_SHARE = 0.75;
/** Where shortening results does not leave that much, groups go until there is more. */
const TARGET_SHARE = 0.5;

export interface ContextBudget {
  /** What the model can hold. */
  readonly window: number;
  /** A request above this is trimmed. */
  readonly budget: number;
  /** Shortened results that bring it below this are enough. */
  readonly enough: number;
  /** What dropping groups aims for. */
  readonly target: number;
}

/** `undefined` when the window is unknown or 0: then nothing is trimmed before the provider refuses. */
export function contextBudget(window: number | undefined, calibrated: boolean): ContextBudget | undefined {
  if (window === undefined || window <= 0) return undefined;
  const budget = Math.floor(window * (calibrated ? CALIBRATED_SHARE : SHARE));
  return { window, budget, enough: Math.floor(budget * ENOUGH_SHARE), target: Math.floor(budget * TARGET_SHARE) };
}

/** Whether the estimate is so low that the margin has to grow. */
export function isUnderestimated(call: { readonly estimated: number; readonly reported: number }): boolean {
  return call.reported > call.estimated * TOLERANCE;
}
