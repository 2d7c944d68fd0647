import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AuditEntry } from '../../../ports/audit.ts';
import { newSession, said } from '../../contracts/session-store.suite.ts';
import { open, tempPlace } from './fixture.ts';

let place: ReturnType<typeof tempPlace>;
beforeEach(() => {
  place = tempPlace();
});
afterEach(() => place.remove());

const ingest = (source: string): AuditEntry => ({ kind: 'ingest', ingest: { turn: 1, source, content_hash: '0'.repeat(16), at: 1 } });

/** What another process would find. */
function onDisk(): { readonly ingests: number; readonly records: number } {
  const raw = new DatabaseSync(place.path, { readOnly: true });
  const count = (table: string): number => Number(raw.prepare(`SELECT count(*) AS n FROM ${table}`).get()?.n);
  const found = { ingests: count('audit_ingests'), records: count('records') };
  raw.close();
  return found;
}

describe('what was noted for the audit', () => {
  it('is on disk in the commit of the next append, and not before', async () => {
    const store = await open(place.path);
    const writer = await store.sessions.create(newSession('a'));
    store.audit.note('a', ingest('one'));
    expect(onDisk()).toEqual({ ingests: 0, records: 0 });
    await writer.append([said('user', 'x')]);
    expect(onDisk()).toEqual({ ingests: 1, records: 1 });
    await store.close();
  });

  it('waits on when the append could not be stored, and is stored once with the next', async () => {
    const store = await open(place.path);
    const writer = await store.sessions.create(newSession('a'));
    store.audit.note('a', ingest('one'));
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    await expect(writer.append([said('user', 'x'), circular as never])).rejects.toThrow('nothing was stored');
    expect(onDisk()).toEqual({ ingests: 0, records: 0 });
    await writer.append([said('user', 'x')]);
    await writer.append([said('user', 'y')]);
    expect(onDisk()).toEqual({ ingests: 1, records: 2 });
    await store.close();
  });

  it('is stored by itself when much waits, so that what is held is bounded', async () => {
    const store = await open(place.path);
    await store.sessions.create(newSession('a'));
    for (let at = 0; at < 1500; at += 1) store.audit.note('a', ingest(`s${at}`));
    expect(onDisk().ingests).toBe(1024);
    await store.audit.flush('a');
    expect((await store.audit.read('a')).ingests.map(({ source }) => source)).toEqual(Array.from({ length: 1500 }, (_, at) => `s${at}`));
    await store.close();
  });
});
