import { type GateDecision, isSame } from '../approvals/gate.ts';
import type { Judgement } from '../approvals/judge.ts';

/** Questions about one call before it is given up. */
const MAX_ASKED = 3;

interface Decided {
  readonly decision: GateDecision;
  /** The judgement that was decided about last. */
  readonly judgement: Judgement;
}

/**
 * Decides about one call. While a person reads a card, something else may change what the call would do, a background job that
 * swaps the script for example. So what a question let through is judged again, and asked about again where it is not what the
 * card showed; a call that changes with every question is denied. Rejects as `decide` and `judge` do.
 */
export async function decideJudged(
  first: Judgement,
  judge: () => Promise<Judgement>,
  decide: (judgement: Judgement) => Promise<GateDecision>,
): Promise<Decided> {
  let judgement = first;
  for (let asked = 1; asked <= MAX_ASKED; asked += 1) {
    const decision = await decide(judgement);
    if (!decision.allowed || judgement.action !== 'prompt') return { decision, judgement };
    const now = await judge();
    if (isSame(judgement, now)) return { decision, judgement };
    judgement = now;
  }
  const text = `operation denied: what the call would do changed ${MAX_ASKED} times while it was asked about`;
  return { decision: { allowed: false, by: 'configuration', text }, judgement };
}
