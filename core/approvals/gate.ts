import type { ApprovalItem, ApprovalRequest, ApprovalVerdict, Approver, DangerClass, DangerPolicy } from '../../ports/approval.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError, isOdekError } from '../../ports/errors.ts';
import type { Ids } from '../../ports/ids.ts';
import type { CallKey } from '../../ports/session.ts';
import { actionOf, NEVER_TRUSTED } from './actions.ts';
import { type Denial, deniedByConfiguration, deniedWithoutPerson, FAILED, refusedBy } from './denials.ts';
import { displayText } from './display.ts';
import type { Friction } from './friction.ts';
import type { Judgement } from './judge.ts';
import { createTurns } from './turns.ts';

export type GateDecision = { readonly allowed: true } | Denial;

/** The call as the model named it. */
export interface GateCall {
  readonly id: string;
  readonly name: string;
  /** Its journal key, handed through to `onAsked` and `onAnswered`. */
  readonly key?: CallKey;
}

/** A call of a response, judged before any of them runs. */
export interface JudgedCall {
  readonly call: GateCall;
  readonly judgement: Judgement;
}

/** Stands between a judgement and the execution of a call. */
export interface Gate {
  /** Rejects with `CancelledError` when `signal` fires while a person is asked; never otherwise. */
  decide(judgement: Judgement, call: GateCall, signal: AbortSignal): Promise<GateDecision>;
  /**
   * Asks about the calls of one response with one card, where more than one of them needs a person and
   * it is clear what each call of it that is not simply allowed would do. Returns the gate for these
   * calls: what the answer decided it decides, for a call whose judgement is still what the card showed,
   * and once; anything else it asks about as ever. Rejects like `decide`.
   */
  together(calls: readonly JudgedCall[], signal: AbortSignal): Promise<Gate>;
}

export interface GateOptions {
  /** Absent: nobody can answer, and `policy.nonInteractive` decides. */
  readonly approver?: Approver | undefined;
  readonly policy: DangerPolicy;
  readonly ids: Ids;
  /** How long a person has, in milliseconds. */
  readonly timeoutMs: number;
  readonly sessionId: string;
  /** Told, and waited for, before a person is asked; more than one call is a batch card. */
  readonly onAsked?: (request: ApprovalRequest, calls: readonly GateCall[]) => void | Promise<void>;
  /** Told, and waited for, before the answer takes effect. */
  readonly onAnswered?: (request: ApprovalRequest, verdict: ApprovalVerdict, calls: readonly GateCall[]) => void | Promise<void>;
  /** What a person trusts already; grows with each `trust`. Made by a gate and opaque. Absent: nothing, and the gate keeps its own. */
  readonly trusted?: Set<string>;
  /** What was approved lately, also through other gates. Absent: no approval costs more than the one before it. */
  readonly friction?: Friction;
  /** With it, an approver that misses its own time limit is cut off shortly after. */
  readonly clock?: Clock;
}

const REQUEST_ID_BYTES = 8;
const GRACE_MS = 2000;
/** A card that nobody would read to its end is no card. */
const MAX_BATCH_CHARS = 65_536;

/** Makes the gate of one session. It remembers which classes a person trusts until the session ends. */
export function createGate(options: GateOptions): Gate {
  const { approver, policy } = options;
  const trusted = options.trusted ?? new Set<string>();
  const turns = createTurns();

  const needsPerson = (judgement: Judgement): boolean => {
    const classes = promptingClasses(judgement, policy);
    // A judgement that prompts for another reason than its classes is asked about all the same.
    return judgement.everyCall === true || classes.length === 0 || classes.some((cls) => !trusted.has(trustKey(cls, judgement)));
  };

  /** Shows a card, with the record before and after it. */
  const show = async (person: Approver, calls: readonly JudgedCall[], signal: AbortSignal) => {
    const request = requestFor(calls, options);
    const asked = calls.map(({ call }) => call);
    await options.onAsked?.(request, asked);
    const verdict = await answer(person, request, signal, options.clock);
    await options.onAnswered?.(request, verdict, asked);
    if (isYes(verdict, request)) options.friction?.count(request);
    return { request, verdict };
  };

  const ask = async (person: Approver, judgement: Judgement, call: GateCall, signal: AbortSignal): Promise<GateDecision> => {
    if (!needsPerson(judgement)) return { allowed: true };
    const { request, verdict } = await show(person, [{ judgement, call }], signal);
    if (!isYes(verdict, request)) return refusedBy(verdict, judgement, call);
    if (verdict.decision === 'trust') for (const cls of promptingClasses(judgement, policy)) trusted.add(trustKey(cls, judgement));
    return { allowed: true };
  };

  const askTogether = async (person: Approver, calls: readonly JudgedCall[], signal: AbortSignal): Promise<Gate> => {
    const listed = calls.filter(({ judgement }) => judgement.action === 'prompt' && needsPerson(judgement));
    if (listed.length < 2 || calls.some(isUnclear) || cardLength(listed) > MAX_BATCH_CHARS) return gate;
    const { request, verdict } = await show(person, listed, signal);
    return decided(gate, listed, verdict, isYes(verdict, request));
  };

  const gate: Gate = {
    async decide(judgement, call, signal) {
      if (signal.aborted) throw new CancelledError();
      if (isDenied(judgement)) return deniedByConfiguration(judgement, call);
      if (!approver) return decideAlone(judgement, call, policy);
      if (judgement.action === 'allow') return { allowed: true };
      return turns.take(signal, () => ask(approver, judgement, call, signal));
    },
    async together(calls, signal) {
      if (!approver || calls.length < 2) return gate;
      return turns.take(signal, () => askTogether(approver, calls, signal));
    },
  };
  return gate;
}

/** The gate behind an answered batch card. A call that is not on it, or is no longer what it shows, goes to `gate`. */
function decided(gate: Gate, listed: readonly JudgedCall[], verdict: ApprovalVerdict, isApproved: boolean): Gate {
  const open = new Map(listed.map(({ call, judgement }) => [call.key ?? call.id, judgement]));
  return {
    async decide(judgement, call, signal) {
      const shown = open.get(call.key ?? call.id);
      if (signal.aborted || shown === undefined || isDenied(judgement)) return gate.decide(judgement, call, signal);
      if (!isApproved) return refusedBy(verdict, shown, call, true);
      open.delete(call.key ?? call.id);
      return isSame(shown, judgement) ? { allowed: true } : gate.decide(judgement, call, signal);
    },
    together: gate.together,
  };
}

function isDenied({ refused, action }: Judgement): boolean {
  return refused || action === 'deny';
}

/** Nobody can say what it would do, and no rule lets it run all the same. */
function isUnclear({ judgement: { action, classes } }: JudgedCall): boolean {
  return action !== 'allow' && classes.includes('unknown');
}

/** Whether a judgement still says what `shown` said: what was approved is what was shown. */
export function isSame(shown: Judgement, now: Judgement): boolean {
  const facts = ({ class: cls, classes, action, resource, reason, findings }: Judgement) =>
    JSON.stringify([cls, classes, action, resource, reason, findings]);
  return facts(shown) === facts(now);
}

function isYes({ decision }: ApprovalVerdict, { allowTrust }: ApprovalRequest): boolean {
  return decision === 'approve' || (decision === 'trust' && allowTrust);
}

function promptingClasses(judgement: Judgement, policy: DangerPolicy): readonly DangerClass[] {
  return judgement.classes.filter((cls) => actionOf(cls, policy) === 'prompt');
}

/** A class, and whose: trust in what the model does is none in what a plugin does. */
function trustKey(cls: DangerClass, { scope }: Judgement): string {
  return scope === undefined ? cls : `${cls} of ${scope}`;
}

function mayBeTrusted(judgement: Judgement, policy: DangerPolicy): boolean {
  const classes = promptingClasses(judgement, policy);
  return judgement.everyCall !== true && classes.length > 0 && classes.every((cls) => !NEVER_TRUSTED.has(cls));
}

function itemOf({ call, judgement }: JudgedCall): ApprovalItem {
  return {
    callId: call.id,
    tool: displayText(call.name),
    class: judgement.class,
    resource: displayText(judgement.resource),
    reason: displayText(judgement.reason),
  };
}

function cardLength(calls: readonly JudgedCall[]): number {
  return calls.map(itemOf).reduce((sum, { tool, resource, reason }) => sum + tool.length + resource.length + reason.length, 0);
}

function requestFor(calls: readonly JudgedCall[], { ids, sessionId, policy, friction, timeoutMs }: GateOptions): ApprovalRequest {
  const [first, ...more] = calls.map(itemOf);
  if (first === undefined) throw new Error('a card has a call');
  const isBatch = more.length > 0;
  const mayTrust = calls.every(({ judgement }) => mayBeTrusted(judgement, policy));
  const card = {
    id: ids.hex(REQUEST_ID_BYTES),
    sessionId,
    class: isBatch ? 'tool_batch' : first.class,
    items: [first, ...more],
    allowTrust: mayTrust && !isBatch,
    timeoutMs,
  } as const;
  return { ...card, friction: friction?.applies(card) === true };
}

/** An approver that fails or overruns has not said yes. */
async function answer(
  approver: Approver,
  request: ApprovalRequest,
  signal: AbortSignal,
  clock: Clock | undefined,
): Promise<ApprovalVerdict> {
  const overrun = new AbortController();
  const stopTimer = clock?.after(request.timeoutMs + GRACE_MS, () => overrun.abort());
  try {
    return await approver.decide(request, AbortSignal.any([signal, overrun.signal]));
  } catch (error) {
    if (signal.aborted) throw isOdekError(error) ? error : new CancelledError('cancelled', { cause: error });
    return { decision: overrun.signal.aborted ? 'timeout' : 'deny', by: FAILED };
  } finally {
    stopTimer?.();
  }
}

/** Nobody can answer: what is harmless or what the operator allowed in words passes, and the rule decides the rest. */
function decideAlone(judgement: Judgement, call: GateCall, policy: DangerPolicy): GateDecision {
  if (judgement.action === 'allow' && judgement.explicit) return { allowed: true };
  if (policy.nonInteractive === 'allow' && judgement.everyCall !== true && judgement.needsPerson !== true) return { allowed: true };
  const asksAnyway = judgement.everyCall === true || judgement.needsPerson === true;
  const harmless = !asksAnyway && judgement.classes.every((cls) => cls === 'safe');
  if (harmless && (judgement.action === 'allow' || policy.nonInteractive === 'read_only')) return { allowed: true };
  return deniedWithoutPerson(judgement, call);
}
