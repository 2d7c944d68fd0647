import type { ApprovalRequest } from '../../ports/approval.ts';
import {
  type Answerer,
  APPROVAL_LIMITS,
  type ApprovalAnswer,
  type ApprovalAudience,
  type ApprovalEnd,
  ApprovalError,
  type ApprovalStore,
  answererText,
  type PendingApproval,
} from '../../ports/approval-store.ts';
import { CancelledError } from '../../ports/errors.ts';

/** Ways to break one sentence; none: the store keeps the contract. */
export interface ApprovalFaults {
  readonly newestFirst?: boolean;
  readonly lastAnswerCounts?: boolean;
  readonly forgetsFirst?: boolean;
  readonly neverExpires?: boolean;
  readonly keepsOrphans?: boolean;
  readonly withdrawsAnswers?: boolean;
  readonly anybodyAnswers?: boolean;
  readonly trustsAlways?: boolean;
  readonly inventsRequests?: boolean;
  readonly boundless?: boolean;
  readonly withdrawsOnAbort?: boolean;
}

interface Entry extends PendingApproval {
  /** Whether its process still lives. */
  alive: boolean;
  withdrawn: boolean;
  answer?: { readonly decision: ApprovalAnswer; readonly by: Answerer };
}

export interface MemoryApprovals {
  readonly store: ApprovalStore;
  /** Whoever asked this is gone. */
  orphan(id: string): void;
}

const LOOK_MS = 5;
const fail = (code: ConstructorParameters<typeof ApprovalError>[0], text: string) => new ApprovalError(code, text);
const isName = (name: string): boolean => name !== '' && name.length <= APPROVAL_LIMITS.name && !/\p{C}/u.test(name);

function check(request: ApprovalRequest, audience: ApprovalAudience | undefined): void {
  const { id, timeoutMs } = request;
  const users = audience?.users ?? [];
  const fits =
    [id, ...users, ...(audience === undefined ? [] : [audience.surface])].every(isName) &&
    timeoutMs > 0 &&
    timeoutMs <= APPROVAL_LIMITS.timeoutMs &&
    users.length <= APPROVAL_LIMITS.users &&
    JSON.stringify([request, audience]).length <= APPROVAL_LIMITS.chars;
  if (!fits) throw fail('approval_invalid', 'the request crosses a limit');
}

function belongs({ surface, user }: Answerer, audience: ApprovalAudience | undefined): boolean {
  if (audience === undefined) return true;
  return audience.surface === surface && (audience.users === undefined || (user !== undefined && audience.users.includes(user)));
}

/** An approval store in memory, with or without a fault. */
export function createMemoryApprovals(now: () => number, faults: ApprovalFaults = {}): MemoryApprovals {
  const entries = new Map<string, Entry>();

  const isOver = (entry: Entry): boolean =>
    entry.withdrawn || (!entry.alive && faults.keepsOrphans !== true) || (entry.expiresAt <= now() && faults.neverExpires !== true);
  const open = (): Entry[] => [...entries.values()].filter((entry) => entry.answer === undefined && !isOver(entry));
  const find = (id: string): Entry => {
    const entry = entries.get(id);
    if (entry === undefined) throw fail('approval_not_found', 'nobody asked that');
    return entry;
  };
  const endOf = (entry: Entry): ApprovalEnd | undefined => entry.answer ?? (isOver(entry) ? { decision: 'timeout' } : undefined);

  const store: ApprovalStore = {
    async ask(request, audience) {
      if (!faults.boundless) {
        check(request, audience);
        if (entries.has(request.id)) throw fail('approval_invalid', 'the id is taken');
        if (open().length >= APPROVAL_LIMITS.pending) throw fail('approvals_full', 'too many wait');
      }
      const times = { askedAt: now(), expiresAt: now() + request.timeoutMs };
      entries.set(request.id, { request, ...(audience && { audience }), ...times, alive: true, withdrawn: false });
    },
    async pending() {
      const found = open().map(
        ({ request, audience, askedAt, expiresAt }): PendingApproval => ({
          request,
          ...(audience && { audience }),
          askedAt,
          expiresAt,
        }),
      );
      return faults.newestFirst ? found.toReversed() : found;
    },
    async answer(id, decision, by) {
      if (faults.inventsRequests && !entries.has(id)) return;
      const entry = find(id);
      if (!['approve', 'trust', 'deny'].includes(decision)) throw fail('approval_invalid', 'what is that');
      if (![by.surface, by.user ?? 'x'].every(isName)) throw fail('approval_invalid', 'who is that');
      if (entry.answer !== undefined && !faults.lastAnswerCounts) {
        const first = faults.forgetsFirst ? {} : { first: entry.answer };
        throw new ApprovalError('approval_answered', `answered by ${answererText(entry.answer.by)}`, first);
      }
      if (isOver(entry)) throw fail('approval_over', 'nobody waits');
      if (!belongs(by, entry.audience) && !faults.anybodyAnswers) throw fail('approval_not_yours', 'not yours');
      if (decision === 'trust' && !entry.request.allowTrust && !faults.trustsAlways) throw fail('trust_not_offered', 'no trust here');
      entry.answer = { decision, by };
    },
    async wait(id, signal) {
      for (;;) {
        if (signal.aborted) {
          if (faults.withdrawsOnAbort) await store.withdraw(id);
          throw new CancelledError();
        }
        const end = endOf(find(id));
        if (end !== undefined) return end;
        await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
      }
    },
    async withdraw(id) {
      const entry = entries.get(id);
      if (entry === undefined) return;
      entry.withdrawn = true;
      if (faults.withdrawsAnswers) delete entry.answer;
    },
  };
  return {
    store,
    orphan: (id) => {
      find(id).alive = false;
    },
  };
}
