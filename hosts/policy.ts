import type { NonInteractiveRule } from '../ports/approval.ts';

/**
 * One cell of the policy table: what counts when the operator says nothing, and the most that the
 * operator may choose. Both are values of a scale below, which runs from narrow to wide.
 */
export interface Cell<T extends string> {
  readonly default: T;
  readonly ceiling: T;
}

/** Every scale runs from the narrowest to the widest choice. */
export const SCALES = {
  nonInteractive: ['deny', 'read_only', 'allow'],
  /** `required`: no run without it. `preferred`: on where the machine can, a warning where not. */
  sandbox: ['required', 'preferred', 'opt_in'],
} as const satisfies { readonly nonInteractive: readonly NonInteractiveRule[]; readonly sandbox: readonly string[] };

type SandboxRule = (typeof SCALES.sandbox)[number] | 'config' | 'inherit';
/** `store`: whoever answers with `odek approvals`. */
export type ApproverKind = 'none' | 'terminal' | 'store' | 'web' | 'telegram';
/** `ephemeral`: journalled, not listed, removed after a normal end (DECISIONS 8). */
type SessionRule = 'none' | 'ephemeral' | 'listed';
/** What one budget covers. `none`: the surface starts no runs. */
type BudgetScope = 'none' | 'run' | 'turn' | 'job' | 'share_or_own';
type SurfaceTool = 'clarify' | 'send_message';

/**
 * What a surface may do. Plain JSON: code asks this record and never the surface's name. The operator
 * chooses up to a ceiling, a project only narrows.
 */
export interface HostPolicy {
  readonly surface: string;
  readonly mcp: {
    readonly client: boolean;
    /** What a server that does not connect does to the start. `none` where there is no client. */
    readonly connectFailure: 'abort' | 'warn' | 'none';
  };
  /** The ceiling is the one approver that may be chosen beside the default. */
  readonly approver: Cell<ApproverKind>;
  /** What happens to a call that would prompt while nobody can answer. */
  readonly nonInteractive: Cell<NonInteractiveRule>;
  readonly sandbox: Cell<SandboxRule>;
  readonly sessions: Cell<SessionRule>;
  readonly budgets: BudgetScope;
  /** Tools that exist on this surface alone. */
  readonly tools: readonly SurfaceTool[];
}

/**
 * The wish of the operator, held under the ceiling. A ceiling that is off the scale admits nothing
 * but the default. Returns the value that counts, and whether the wish had to be lowered.
 */
export function choose<T extends string>(
  cell: Cell<T>,
  wish: T | undefined,
  scale: readonly T[],
): { readonly value: T; readonly lowered: boolean } {
  if (wish === undefined || wish === cell.default) return { value: cell.default, lowered: false };
  const ceiling = scale.indexOf(cell.ceiling);
  const wished = scale.indexOf(wish);
  if (ceiling < 0 || wished < 0) return { value: cell.default, lowered: true };
  return wished <= ceiling ? { value: wish, lowered: false } : { value: cell.ceiling, lowered: true };
}
