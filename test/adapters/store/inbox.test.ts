import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Store } from '../../../adapters/store/index.ts';
import type { ChatInbox } from '../../../ports/chat-inbox.ts';
import { update } from '../../contracts/chat-inbox.suite.ts';
import { open, type StoreChild, startInboxChild, tempPlace } from './fixture.ts';

const NOON = Date.UTC(2026, 5, 1, 12);
const rules = { now: NOON, oldest: NOON - 600_000 };

let place: ReturnType<typeof tempPlace>;
let store: Store;
let inbox: ChatInbox;
let children: StoreChild[];

function child(command: string): StoreChild {
  const started = startInboxChild(place.path, command);
  children.push(started);
  return started;
}

async function killed(victim: StoreChild): Promise<void> {
  victim.process.kill('SIGKILL');
  await victim.exited;
}

beforeEach(async () => {
  place = tempPlace();
  children = [];
  store = await open(place.path);
  inbox = store.inbox('bot');
});

afterEach(async () => {
  for (const each of children) await killed(each);
  await store.close();
  place.remove();
});

describe('the inbox in the database', () => {
  it('gives back as a new one what a killed process had claimed only, and as interrupted what it had begun', async () => {
    await inbox.record([update(10), update(11)], rules);
    const [first, second] = [child('begin'), child('claim')];
    expect([await first.line(), await second.line()].sort()).toEqual(['10', '11']);
    expect(await inbox.claim()).toBeUndefined();
    await killed(first);
    await killed(second);
    const back = [await inbox.claim(), await inbox.claim()];
    expect(back.map((claim) => claim?.interrupted)).toEqual([true, false]);
    expect(await inbox.claim()).toBeUndefined();
  });

  it('lets of three processes one handle each update', async () => {
    const ids = Array.from({ length: 150 }, (_, index) => index + 1);
    await inbox.record(
      ids.map((id) => update(id)),
      rules,
    );
    const workers = [child('drain'), child('drain'), child('drain')];
    const handled: number[] = [];
    await Promise.all(
      workers.map(async (worker) => {
        for (;;) {
          const line = await worker.line().catch(() => undefined);
          if (line === undefined) return;
          handled.push(Number(line));
        }
      }),
    );
    expect(handled.sort((one, other) => one - other)).toEqual(ids);
  });

  it('keeps bots apart', async () => {
    await inbox.record([update(10)], rules);
    const other = store.inbox('other');
    expect(await other.claim()).toBeUndefined();
    expect(await other.stand(NOON)).toEqual({ offset: 0, waiting: 0, handling: 0 });
    expect((await other.record([update(10)], rules)).recorded).toBe(1);
  });

  it('forgets what was said once it is handled, and knows the update all the same', async () => {
    await inbox.record([update(10, NOON, 'a secret')], rules);
    const claim = await inbox.claim();
    expect(claim).toBeDefined();
    if (claim !== undefined) await inbox.finish(claim);
    const raw = new DatabaseSync(place.path, { readOnly: true });
    const rows = raw.prepare('SELECT * FROM chat_updates').all();
    raw.close();
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain('secret');
    expect((await inbox.record([update(10, NOON, 'a secret')], { ...rules, now: NOON + 30 * 86_400_000 })).recorded).toBe(0);
  });
});
