import type { ApprovalDecision, ApprovalRequest } from './approval.ts';
import { OdekError } from './errors.ts';

/** Who answers: where, and as whom, if that is known there. */
export interface Answerer {
  /** `cli`, `web`, `telegram`, … */
  readonly surface: string;
  readonly user?: string;
}

/** Who may answer. Without it, whoever can open the store may. */
export interface ApprovalAudience {
  readonly surface: string;
  /** These alone; anybody on the surface when absent. At most 64. */
  readonly users?: readonly string[];
}

/** A request that waits for an answer. */
export interface PendingApproval {
  readonly request: ApprovalRequest;
  readonly audience?: ApprovalAudience;
  /** Milliseconds since the epoch. */
  readonly askedAt: number;
  /** Milliseconds since the epoch: `askedAt` and the request's time limit. */
  readonly expiresAt: number;
}

/** What a person can say. */
export type ApprovalAnswer = Exclude<ApprovalDecision, 'timeout'>;

/** How the wait for an answer ended. */
export type ApprovalEnd = { readonly decision: ApprovalAnswer; readonly by: Answerer } | { readonly decision: 'timeout' };

/** Bounds of an approval store. Text is measured in UTF-16 units. */
export const APPROVAL_LIMITS = {
  /** Requests that wait at the same time. */
  pending: 256,
  /** A request as JSON, with its audience. */
  chars: 262_144,
  /** The time limit of a request, in milliseconds: a day. */
  timeoutMs: 86_400_000,
  /** A surface or a user. */
  name: 256,
  users: 64,
} as const;

/**
 * Requests that one process asks and another answers.
 *
 * Contract:
 * - What was asked is pending for every process, oldest first, as it was asked.
 * - The first answer counts and names who gave it; `wait` gives it to every process, also when it came before the wait.
 * - A second answer is refused with `approval_answered`, which names the first answerer.
 * - A request whose time limit has passed is not pending, its wait ends with `timeout`, and an answer is refused with `approval_over`.
 * - A request whose asker died is not pending, and an answer to it is refused with `approval_over`.
 * - `withdraw` ends a request that has no answer: it is not pending, an answer is refused with `approval_over`, and it changes nothing else.
 * - An answer from outside the audience is refused with `approval_not_yours` and leaves the request pending.
 * - `trust` where the request does not allow it is refused with `trust_not_offered` and leaves the request pending.
 * - A request that nobody asked is refused with `approval_not_found`.
 * - What crosses {@link APPROVAL_LIMITS} is refused: `approval_invalid` for one request, `approvals_full` for one too many.
 * - When `signal` fires, `wait` rejects with `CancelledError` and the request stays pending.
 */
export interface ApprovalStore {
  /** `request.id` must be new. */
  ask(request: ApprovalRequest, audience?: ApprovalAudience): Promise<void>;
  pending(): Promise<readonly PendingApproval[]>;
  answer(id: string, decision: ApprovalAnswer, by: Answerer): Promise<void>;
  /** Ends at most 250 ms after the answer or the time limit. */
  wait(id: string, signal: AbortSignal): Promise<ApprovalEnd>;
  /** Nobody waits any more. */
  withdraw(id: string): Promise<void>;
}

export type ApprovalErrorCode =
  | 'approval_not_found'
  | 'approval_answered'
  | 'approval_over'
  | 'approval_not_yours'
  | 'trust_not_offered'
  | 'approval_invalid'
  | 'approvals_full';

export class ApprovalError extends OdekError {
  /** With `approval_answered`: the first answer, and whose it was. */
  readonly first: { readonly decision: ApprovalAnswer; readonly by: Answerer } | undefined;

  constructor(
    code: ApprovalErrorCode,
    message: string,
    details: { value?: unknown; limit?: unknown; first?: { readonly decision: ApprovalAnswer; readonly by: Answerer } } = {},
  ) {
    super(code, message, details);
    this.first = details.first;
  }
}

/** An answerer as one word, for records and messages: `telegram:42`, `cli`. */
export function answererText({ surface, user }: Answerer): string {
  return user === undefined ? surface : `${surface}:${user}`;
}
