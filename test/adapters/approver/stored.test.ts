import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createStoredApprover, type StoredApproverOptions } from '../../../adapters/approver/stored.ts';
import type { Store } from '../../../adapters/store/index.ts';
import { approvalRequest } from '../../contracts/approver.suite.ts';
import { open, tempPlace } from '../store/fixture.ts';

const never = new AbortController().signal;
const CLI = { surface: 'cli', user: 'ann' } as const;

let place: ReturnType<typeof tempPlace>;
let person: Store;
let opened: Store[];

beforeEach(async () => {
  place = tempPlace();
  person = await open(place.path);
  opened = [];
});

afterEach(async () => {
  for (const store of [person, ...opened]) await store.close();
  place.remove();
});

function approver(options: Partial<StoredApproverOptions> = {}) {
  return createStoredApprover({
    open: async () => {
      const store = await open(place.path);
      opened.push(store);
      return store;
    },
    redact: (text) => text.replaceAll('hunter2', '[REDACTED]'),
    ...options,
  });
}

/** Resolves with what waits, once something does. */
async function waiting() {
  for (let look = 0; look < 500; look += 1) {
    const [first] = await person.approvals.pending();
    if (first !== undefined) return first;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('nothing waits');
}

describe('an approver that asks through a store', () => {
  it('gives the answer and who gave it', async () => {
    const verdict = approver().decide(approvalRequest('x', { id: 'r' }), never);
    await waiting();
    await person.approvals.answer('r', 'trust', CLI);
    expect(await verdict).toEqual({ decision: 'trust', by: 'cli:ann' });
  });

  it('stores no secret, and keeps all else as it was asked', async () => {
    const request = approvalRequest('echo hunter2', { id: 'r', friction: true });
    const verdict = approver({ audience: { surface: 'telegram', users: ['7'] } }).decide(request, never);
    const { request: stored, audience } = await waiting();
    expect(stored).toEqual({ ...request, items: [{ ...request.items[0], resource: 'echo [REDACTED]' }] });
    expect(audience).toEqual({ surface: 'telegram', users: ['7'] });
    await expect(person.approvals.answer('r', 'approve', CLI)).rejects.toMatchObject({ code: 'approval_not_yours' });
    await person.approvals.answer('r', 'approve', { surface: 'telegram', user: '7' });
    expect(await verdict).toEqual({ decision: 'approve', by: 'telegram:7' });
  });

  it('ends with the time limit of the request', async () => {
    const verdict = await approver().decide(approvalRequest('x', { id: 'r', timeoutMs: 30 }), never);
    expect(verdict).toEqual({ decision: 'timeout', by: 'nobody' });
    expect(await person.approvals.pending()).toEqual([]);
  });

  it('withdraws the request of a run that is cancelled', async () => {
    const controller = new AbortController();
    const verdict = approver().decide(approvalRequest('x', { id: 'r' }), controller.signal);
    const rejected = expect(verdict).rejects.toMatchObject({ code: 'cancelled' });
    await waiting();
    controller.abort();
    await rejected;
    await expect(person.approvals.answer('r', 'approve', CLI)).rejects.toMatchObject({ code: 'approval_over' });
  });

  it('asks one after the other, and closes the store behind each', async () => {
    const asking = approver();
    const verdicts = ['a', 'b'].map((id) => asking.decide(approvalRequest(id, { id }), never));
    for (const id of ['a', 'b']) {
      expect((await waiting()).request.id).toBe(id);
      expect(await person.approvals.pending()).toHaveLength(1);
      await person.approvals.answer(id, 'deny', CLI);
      await verdicts[id === 'a' ? 0 : 1];
    }
    for (const store of opened) await expect(store.approvals.pending()).rejects.toThrow();
    expect(opened).toHaveLength(2);
  });

  it('fails when nothing can be asked', async () => {
    const full = approver({
      open: async () => ({ approvals: { ...person.approvals, ask: () => Promise.reject(new Error('full')) }, close: async () => {} }),
    });
    await expect(full.decide(approvalRequest('x'), never)).rejects.toThrow('full');
  });
});
