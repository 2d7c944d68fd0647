import type { ApprovalRequest, ApprovalVerdict, Approver, DangerClass, DangerPolicy } from '../../ports/approval.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError, isOdekError } from '../../ports/errors.ts';
import type { Ids } from '../../ports/ids.ts';
import type { CallKey } from '../../ports/session.ts';
import { actionOf, NEVER_TRUSTED } from './actions.ts';
import { displayText } from './display.ts';
import type { Judgement } from './judge.ts';
import { createTurns } from './turns.ts';

/** Who or what said no. */
export type DenialSource = 'configuration' | 'non_interactive' | 'user' | 'timeout';

export type GateDecision = { readonly allowed: true } | { readonly allowed: false; readonly text: string; readonly by: DenialSource };

/** The call as the model named it. */
export interface GateCall {
  readonly id: string;
  readonly name: string;
  /** Its journal key, handed through to `onAsked` and `onAnswered`. */
  readonly key?: CallKey;
}

/** Stands between a judgement and the execution of a call. */
export interface Gate {
  /** Rejects with `CancelledError` when `signal` fires while a person is asked; never otherwise. */
  decide(judgement: Judgement, call: GateCall, signal: AbortSignal): Promise<GateDecision>;
}

export interface GateOptions {
  /** Absent: nobody can answer, and `policy.nonInteractive` decides. */
  readonly approver?: Approver | undefined;
  readonly policy: DangerPolicy;
  readonly ids: Ids;
  /** How long a person has, in milliseconds. */
  readonly timeoutMs: number;
  readonly sessionId: string;
  /** Told, and waited for, before a person is asked. */
  readonly onAsked?: (request: ApprovalRequest, call: GateCall) => void | Promise<void>;
  /** Told, and waited for, before the answer takes effect. */
  readonly onAnswered?: (request: ApprovalRequest, verdict: ApprovalVerdict, call: GateCall) => void | Promise<void>;
  /** Classes a person trusts already; grows with each `trust`. Absent: none, and the gate keeps its own. */
  readonly trusted?: Set<DangerClass>;
  /** With it, an approver that misses its own time limit is cut off shortly after. */
  readonly clock?: Clock;
}

const REQUEST_ID_BYTES = 8;
const GRACE_MS = 2000;
/** In place of a name: the approver broke down, so nobody answered. */
const FAILED = 'approver_failed';

/** Makes the gate of one session. It remembers which classes a person trusts until the session ends. */
export function createGate(options: GateOptions): Gate {
  const { approver, policy } = options;
  const trusted = options.trusted ?? new Set<DangerClass>();
  const turns = createTurns();

  const asks = (judgement: Judgement) => promptingClasses(judgement, policy).filter((cls) => !trusted.has(cls));

  const ask = async (person: Approver, judgement: Judgement, call: GateCall, signal: AbortSignal): Promise<GateDecision> => {
    if (asks(judgement).length === 0) return { allowed: true };
    const request = requestFor(judgement, call, options);
    await options.onAsked?.(request, call);
    const verdict = await answer(person, request, signal, options.clock);
    await options.onAnswered?.(request, verdict, call);
    if (verdict.decision === 'trust' && request.allowTrust) {
      for (const cls of promptingClasses(judgement, policy)) trusted.add(cls);
      return { allowed: true };
    }
    return verdict.decision === 'approve' ? { allowed: true } : refusedBy(verdict, judgement, call);
  };

  return {
    async decide(judgement, call, signal) {
      if (signal.aborted) throw new CancelledError();
      if (judgement.refused || judgement.action === 'deny') return deniedByConfiguration(judgement, call);
      if (!approver) return decideAlone(judgement, call, policy);
      if (judgement.action === 'allow') return { allowed: true };
      return turns.take(signal, () => ask(approver, judgement, call, signal));
    },
  };
}

function promptingClasses(judgement: Judgement, policy: DangerPolicy): readonly DangerClass[] {
  return judgement.classes.filter((cls) => actionOf(cls, policy) === 'prompt');
}

function requestFor(judgement: Judgement, call: GateCall, options: GateOptions): ApprovalRequest {
  const { resource, reason } = judgement;
  return {
    id: options.ids.hex(REQUEST_ID_BYTES),
    sessionId: options.sessionId,
    items: [
      {
        callId: call.id,
        tool: displayText(call.name),
        class: judgement.class,
        resource: displayText(resource),
        reason: displayText(reason),
      },
    ],
    allowTrust: promptingClasses(judgement, options.policy).every((cls) => !NEVER_TRUSTED.has(cls)),
    timeoutMs: options.timeoutMs,
  };
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
  if (policy.nonInteractive === 'allow') return { allowed: true };
  const harmless = judgement.classes.every((cls) => cls === 'safe');
  if (harmless && (judgement.action === 'allow' || policy.nonInteractive === 'read_only')) return { allowed: true };
  const ways = `the operator can allow it with dangerous.classes.${judgement.class}: "allow" or dangerous.non_interactive: "allow"`;
  return denied(
    'non_interactive',
    `operation denied (non-interactive mode): ${told(judgement, call)}; nobody can approve it here, and ${ways}`,
  );
}

function deniedByConfiguration(judgement: Judgement, call: GateCall): GateDecision {
  return denied('configuration', `operation denied by configuration: ${told(judgement, call)}`);
}

function refusedBy(verdict: ApprovalVerdict, judgement: Judgement, call: GateCall): GateDecision {
  if (verdict.decision === 'timeout') return denied('timeout', `approval timeout: ${told(judgement, call)}; nobody answered in time`);
  if (verdict.by === FAILED)
    return denied('non_interactive', `operation denied (non-interactive mode): ${told(judgement, call)}; asking failed`);
  return denied('user', `operation denied by user: ${told(judgement, call)}`);
}

function told({ class: cls, resource, reason }: Judgement, call: GateCall): string {
  return `${displayText(call.name)} ${displayText(resource)} (${cls}): ${displayText(reason)}`;
}

function denied(by: DenialSource, text: string): GateDecision {
  return { allowed: false, by, text };
}
