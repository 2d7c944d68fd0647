import { cardOf, contextOf } from '../../../adapters/approver/card.ts';
import { ApprovalError, type PendingApproval } from '../../../ports/approval-store.ts';
import { truncateCells } from '../render/cells.ts';
import { columns } from '../render/columns.ts';
import { sanitise, sanitiseLine } from '../render/sanitise.ts';
import type { ApprovalsDeps } from './deps.ts';

const WHAT_CELLS = 60;

function secondsLeft({ expiresAt }: PendingApproval, now: number): number {
  return Math.max(0, Math.ceil((expiresAt - now) / 1000));
}

function rowOf(pending: PendingApproval, now: number): readonly string[] {
  const { id, class: cls, items } = pending.request;
  const what = items.map(({ tool, resource }) => `${tool} ${resource}`).join('; ');
  return [sanitiseLine(id), cls, `${secondsLeft(pending, now)} s`, truncateCells(sanitiseLine(what), WHAT_CELLS)];
}

/** `approvals list`: what waits for an answer, oldest first. */
export async function listRequests({ approvals, json, now, out }: ApprovalsDeps): Promise<void> {
  const pending = await approvals.pending();
  if (json) return out(JSON.stringify({ approvals: pending }));
  if (pending.length === 0) return out('Nothing waits for an answer.');
  for (const line of columns([['ID', 'Class', 'Left', 'What'], ...pending.map((each) => rowOf(each, now()))])) out(line);
}

/** `approvals show <id>`: the whole card, as the terminal would show it, and how to answer it. */
export async function showRequest(id: string, { approvals, json, now, out }: ApprovalsDeps): Promise<void> {
  const found = (await approvals.pending()).find(({ request }) => request.id === id);
  if (found === undefined) {
    throw new ApprovalError('approval_not_found', `no request ${JSON.stringify(id.slice(0, 64))} waits for an answer`, { value: id });
  }
  if (json) return out(JSON.stringify(found));
  const { request, audience } = found;
  const answers = ['approve', ...(request.allowTrust ? ['trust'] : []), 'deny'].map((answer) => `  odek approvals ${answer} ${id}`);
  out(sanitise(`${cardOf(request).trim()}\n${contextOf(request).trimEnd()}`));
  if (request.friction) out('  Several of this class were approved within the last minute: read this one.');
  if (audience !== undefined) out(sanitiseLine(`  Only ${[audience.surface, ...(audience.users ?? [])].join(' ')} may answer.`));
  for (const line of [`  ${secondsLeft(found, now())} s left:`, ...answers]) out(line);
}
