import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../adapters/store/index.ts';
import { approvalRequest } from '../../contracts/approver.suite.ts';
import { type MovableClock, movableClock, open, type StoreChild, startApprovalsChild, tempPlace } from './fixture.ts';

let place: ReturnType<typeof tempPlace>;
let clock: MovableClock;
let store: Store;
let children: StoreChild[];

beforeEach(async () => {
  place = tempPlace();
  clock = movableClock();
  children = [];
  store = await open(place.path, { clock });
});

afterEach(async () => {
  for (const { process: running } of children) running.kill('SIGKILL');
  await Promise.all(children.map(({ exited }) => exited));
  await store.close();
  place.remove();
});

function child(command: string, ...args: string[]): StoreChild {
  const started = startApprovalsChild(place.path, command, ...args);
  children.push(started);
  return started;
}

const request = (id: string) => approvalRequest(id, { id, timeoutMs: 60_000 });

describe('approvals between processes', () => {
  it('are asked in one, answered in another, and the first hears of it', async () => {
    const asker = child('wait', JSON.stringify(request('r')));
    expect(await asker.line()).toBe('asked');
    expect((await store.approvals.pending()).map((each) => each.request)).toEqual([request('r')]);
    await store.approvals.answer('r', 'approve', { surface: 'cli', user: 'ann' });
    expect(JSON.parse(await asker.line())).toEqual({ decision: 'approve', by: { surface: 'cli', user: 'ann' } });
    await asker.exited;
    // The answer outlives the process that wanted it.
    await expect(store.approvals.answer('r', 'deny', { surface: 'cli' })).rejects.toMatchObject({ code: 'approval_answered' });
  });

  it('of six that answer at the same time take one, and name it to the others', async () => {
    await store.approvals.ask(request('r'));
    const racers = Array.from({ length: 6 }, (_, index) => child('answer', 'r', index % 2 === 0 ? 'approve' : 'deny', `p${index}`));
    const lines = await Promise.all(racers.map((racer) => racer.line()));
    const winner = lines.indexOf('taken');
    expect(lines.filter((line) => line === 'taken')).toHaveLength(1);
    const told = `approval_answered the request was answered already: "${winner % 2 === 0 ? 'approve' : 'deny'}" by child:p${winner}`;
    expect(lines.filter((_, index) => index !== winner)).toEqual(Array.from({ length: 5 }, () => told));
    expect(await store.approvals.wait('r', new AbortController().signal)).toMatchObject({ by: { user: `p${winner}` } });
  });

  it('are gone from the list as soon as the asking process is killed', async () => {
    const asker = child('wait', JSON.stringify(request('r')));
    await asker.line();
    expect(await store.approvals.pending()).toHaveLength(1);
    asker.process.kill('SIGKILL');
    await asker.exited;
    expect(await store.approvals.pending()).toEqual([]);
    await expect(store.approvals.answer('r', 'approve', { surface: 'cli' })).rejects.toThrow('comes from a run that is gone');
    expect(await store.approvals.wait('r', new AbortController().signal)).toEqual({ decision: 'timeout' });
  });
});

describe('the table of approvals', () => {
  const rows = () => {
    const db = new DatabaseSync(place.path, { readOnly: true });
    try {
      return db
        .prepare('SELECT id FROM approvals ORDER BY n')
        .all()
        .map(({ id }) => id);
    } finally {
      db.close();
    }
  };

  it('forgets what is over a day after its time', async () => {
    await store.approvals.ask(request('old'));
    clock.move(12 * 3_600_000);
    await store.approvals.ask(request('middle'));
    clock.move(13 * 3_600_000);
    await store.approvals.ask(request('new'));
    expect(rows()).toEqual(['middle', 'new']);
  });

  it('keeps about a thousand of those that are over, and each that waits', async () => {
    await store.approvals.ask(request('waits'));
    for (let count = 0; count < 1100; count += 1) {
      await store.approvals.ask(request(`r${count}`));
      await store.approvals.withdraw(`r${count}`);
    }
    expect(rows().length).toBeLessThanOrEqual(1026);
    expect((await store.approvals.pending()).map((each) => each.request.id)).toEqual(['waits']);
  });
});
