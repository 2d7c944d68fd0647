import { describe, expect, it } from 'vitest';
import type { ApprovalsDeps } from '../../../../hosts/cli/approvals/deps.ts';
import { listRequests, showRequest } from '../../../../hosts/cli/approvals/show.ts';
import type { ApprovalRequest } from '../../../../ports/approval.ts';
import type { ApprovalAudience } from '../../../../ports/approval-store.ts';
import { approvalRequest } from '../../../contracts/approver.suite.ts';
import { createMemoryApprovals } from '../../../fakes/approval-store.ts';

const NOW = Date.UTC(2026, 0, 1);

async function shown(work: (deps: ApprovalsDeps) => Promise<void>, ...asked: readonly [ApprovalRequest, ApprovalAudience?][]) {
  const { store } = createMemoryApprovals(() => NOW);
  for (const [request, audience] of asked) await store.ask(request, audience);
  const lines: string[] = [];
  await work({ approvals: store, by: { surface: 'cli' }, env: {}, json: false, now: () => NOW + 4_500, out: (line) => lines.push(line) });
  return lines.join('\n');
}

const request = (id: string, changes: Partial<ApprovalRequest> = {}) =>
  approvalRequest(`make ${id}`, { id, timeoutMs: 60_000, ...changes });

describe('odek approvals list', () => {
  it('is one line a request, oldest first, cut to the screen and free of control characters', async () => {
    const [item] = request('x').items;
    const long = request('b', { items: [{ ...item, resource: `first\n    second \u001b[2J${'x'.repeat(100)}` }] });
    expect(await shown(listRequests, [request('a')], [long])).toBe(
      [
        'ID  Class           Left  What',
        'a   code_execution  56 s  shell make a',
        `b   code_execution  56 s  shell first second \\x1b[2J${'x'.repeat(33)}…`,
      ].join('\n'),
    );
  });
});

describe('odek approvals show', () => {
  it('is the whole card, with the answers that count', async () => {
    const text = await shown((deps) => showRequest('a', deps), [request('a')]);
    expect(text).toContain('Approval needed: shell\n  Risk: code_execution (it can run any code)\n  Run:  make a\n');
    expect(text).toMatch(/56 s left:\n {2}odek approvals approve a\n {2}odek approvals trust a\n {2}odek approvals deny a$/);
    expect(text).not.toContain('Only');
    expect(text).not.toContain('within the last minute');
  });

  it('tells friction and who alone may answer, and names no trust that is not offered', async () => {
    const hard = request('a', { friction: true, allowTrust: false });
    const text = await shown((deps) => showRequest('a', deps), [hard, { surface: 'telegram', users: ['7', '8'] }]);
    expect(text).toContain('Several of this class were approved within the last minute: read this one.');
    expect(text).toContain('Only telegram 7 8 may answer.');
    expect(text).not.toContain('approvals trust');
  });
});
