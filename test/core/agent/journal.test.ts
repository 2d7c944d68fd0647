import { describe, expect, it } from 'vitest';
import { createJournal } from '../../../core/agent/journal.ts';
import type { JournalRecord, SessionWriter } from '../../../ports/session.ts';

const record = (content: string): JournalRecord => ({ kind: 'slot', name: 'warning', content });

function fakeSession(append: (records: readonly JournalRecord[]) => Promise<number>): SessionWriter {
  return { header: { messages: 0 }, append } as unknown as SessionWriter;
}

describe('the journal', () => {
  it.each(Array.from({ length: 16 }, (_, ticks) => ticks))('stores what comes %i turns after a commit', async (ticks) => {
    const commits: string[][] = [];
    let seq = 0;
    const journal = createJournal(
      fakeSession(async (records) => {
        commits.push(records.flatMap((each) => (each.kind === 'slot' ? [each.content ?? ''] : [])));
        seq += records.length;
        return seq;
      }),
    );
    await journal.append([record('first')]);
    for (let tick = 0; tick < ticks; tick++) await undefined;
    const second = journal.append([record('second')]);
    const late = new Promise<string>((resolve) => setTimeout(resolve, 2_000, 'never stored'));
    expect(await Promise.race([second, late])).toBe(2);
    expect(commits).toEqual([['first'], ['second']]);
  });

  it('joins what arrives together into one commit and numbers each by its first record', async () => {
    const sizes: number[] = [];
    let seq = 10;
    const journal = createJournal(
      fakeSession(async (records) => {
        sizes.push(records.length);
        seq += records.length;
        return seq;
      }),
    );
    const stored = await Promise.all([
      journal.append([record('a'), record('b')]),
      journal.defer([record('c')]),
      journal.append([record('d')]),
    ]);
    expect([sizes, stored]).toEqual([[4], [11, 13, 14]]);
  });

  it('goes on after a commit that failed, and tells whoever waited for it', async () => {
    let broken = true;
    const journal = createJournal(
      fakeSession(async () => {
        if (!broken) return 1;
        broken = false;
        throw new Error('disk full');
      }),
    );
    await expect(journal.append([record('a')])).rejects.toThrow('disk full');
    expect(await journal.append([record('b')])).toBe(1);
  });
});
