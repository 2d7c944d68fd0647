/** What a call could do to the user's world, from harmless to forbidden. Order is rank. */
export const DANGER_CLASSES = [
  'safe',
  'local_write',
  'install',
  'network_egress',
  'network_upload',
  'code_execution',
  'system_write',
  'unread_exec',
  'persistence',
  'unknown',
  'destructive',
  'blocked',
] as const;

export type DangerClass = (typeof DANGER_CLASSES)[number];

/** What a card asks about: the class of its call, or `tool_batch` for several calls at once. */
export type CardClass = DangerClass | 'tool_batch';

export type DangerAction = 'allow' | 'prompt' | 'deny';

/** What happens to a call that would prompt when nobody can answer. */
export type NonInteractiveRule = 'read_only' | 'deny' | 'allow';

/** The operator's choices about danger; a project's configuration never reaches this. */
export interface DangerPolicy {
  readonly classes: Readonly<Partial<Record<DangerClass, DangerAction>>>;
  /** Commands allowed by exact match of the whole trimmed line. */
  readonly allowlist: readonly string[];
  /** Commands denied by token prefix. */
  readonly denylist: readonly string[];
  /** Replaces every built-in default but `blocked`. */
  readonly action?: DangerAction;
  readonly nonInteractive: NonInteractiveRule;
  /** Classes that nothing allows, the allowlist included. */
  readonly never?: readonly DangerClass[];
}

/** One call that waits for a person. All text is already sanitised for display. */
export interface ApprovalItem {
  readonly callId: string;
  readonly tool: string;
  readonly class: DangerClass;
  /** The whole command, path list or host. */
  readonly resource: string;
  /** Why odek asks. */
  readonly reason: string;
}

/** Serialisable, so that one process can show it and another answer it. More than one item is a batch card. */
export interface ApprovalRequest {
  readonly id: string;
  readonly sessionId: string;
  /** `tool_batch` with more than one item, which one answer decides; else the class of the item. */
  readonly class: CardClass;
  readonly items: readonly [ApprovalItem, ...ApprovalItem[]];
  /** Whether "trust this class for the session" may be offered. */
  readonly allowTrust: boolean;
  /** Several of this class were approved just now: a yes has to cost the person more than one key. */
  readonly friction: boolean;
  readonly timeoutMs: number;
}

export type ApprovalDecision = 'approve' | 'trust' | 'deny' | 'timeout';

export interface ApprovalVerdict {
  readonly decision: ApprovalDecision;
  /** Who answered, for the record: `terminal`, `telegram:<user>`, … */
  readonly by: string;
}

/**
 * A person, or whoever stands in for one. The only way an answer comes back into a run.
 *
 * Contract:
 * - `decide` answers once per request; anything but an explicit yes is `deny` or `timeout`.
 * - `trust` is answered only where `allowTrust` is true.
 * - When `signal` fires while waiting, it rejects with `CancelledError`.
 * - Requests are shown one at a time, in the order they came.
 */
export interface Approver {
  decide(request: ApprovalRequest, signal: AbortSignal): Promise<ApprovalVerdict>;
}
