import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { foldJournal } from '../../../../core/transcript/fold.ts';
import type { FlagValue } from '../../../../hosts/cli/command.ts';
import { planTrim } from '../../../../hosts/cli/session/trim.ts';
import { runSessionCommand } from '../../../../hosts/cli/session.ts';
import type { Message, ToolCall } from '../../../../ports/message.ts';
import type { JournalRecord, SessionStore, StoredRecord } from '../../../../ports/session.ts';
import { movableClock, open, tempPlace } from '../../../adapters/store/fixture.ts';
import { newSession, said } from '../../../contracts/session-store.suite.ts';
import { createMemorySessionStore } from '../../../fakes/session-store.ts';

const DAY_MS = 86_400_000;
const never = new AbortController().signal;

function group(iteration: number, calls: number): JournalRecord[] {
  const toolCalls: ToolCall[] = Array.from({ length: calls }, (_, index) => ({
    id: `c${iteration}-${index}`,
    name: 'shell',
    arguments: `{"command":"ls ${index}"}`,
  }));
  const message: Message = { role: 'assistant', content: `looking ${iteration}`, toolCalls };
  const results = toolCalls.map(
    (call, index): JournalRecord => ({
      kind: 'tool_finished',
      key: `r1/${iteration}/${index}`,
      durationMs: 1,
      message: { role: 'tool', callId: call.id, name: call.name, content: 'x'.repeat(300), outcome: 'completed' },
    }),
  );
  return [{ kind: 'message', run: 'r1', iteration, message }, ...results.reverse()];
}

function scene() {
  const clock = movableClock();
  const store = createMemorySessionStore({ clock });
  const lines: string[] = [];
  const errors: string[] = [];
  return {
    clock,
    store,
    lines,
    errors,
    run: (args: readonly string[], flags: Readonly<Record<string, FlagValue>> = {}) =>
      runSessionCommand(args, {
        store,
        out: (line) => void lines.push(line),
        err: (line) => void errors.push(line),
        now: clock.now,
        flags,
      }),
  };
}

async function add(store: SessionStore, id: string, title: string, records: readonly JournalRecord[] = []): Promise<void> {
  const writer = await store.create(newSession(id, { title }));
  await writer.append(records);
  await writer.close();
}

describe('session list', () => {
  it('shows the 20 newest in columns', async () => {
    const { store, clock, lines, run } = scene();
    for (let index = 1; index <= 25; index++) {
      await add(store, `s${index}`, `task ${index}`, [said('user', 'hello')]);
      clock.move(1_000);
    }
    expect(await run(['list'])).toBe(0);
    expect(lines.length).toBe(21);
    expect(lines[0]).toBe('ID   Turns  Model  Task');
    expect(lines[1]).toBe('s25  1      m-1    task 25');
    expect(lines[20]).toBe('s6   1      m-1    task 6');
  });

  it('cuts long tasks and shows no control characters', async () => {
    const { store, lines, run } = scene();
    await add(store, 's1', `\u001b[31mred\u001b[0m\nsecond line ${'long '.repeat(40)}`);
    await run(['list']);
    expect(lines[1]).not.toContain('\u001b');
    expect(lines[1]).toMatch(/^s1 {2}0 {6}m-1 {4}.{40,60}…$/);
  });

  it('finds sessions by their words', async () => {
    const { store, lines, run } = scene();
    await add(store, 's1', 'repair the export');
    await add(store, 's2', 'write docs');
    await run(['list', 'export', 'rep']);
    expect(lines.slice(1)).toEqual(['s1  0      m-1    repair the export']);
    expect(await run(['list', 'nothing'])).toBe(0);
    expect(lines.at(-1)).toBe('No session has the words: nothing');
  });

  it('says how to keep a session when there is none, and prints JSON when asked', async () => {
    const { store, lines, run } = scene();
    expect(await run(['list'])).toBe(0);
    expect(lines[0]).toContain('--session');
    await add(store, 's1', 'one');
    await run(['list'], { json: true });
    expect(JSON.parse(lines.at(-1) ?? '').sessions[0]).toMatchObject({ id: 's1', title: 'one' });
  });
});

describe('session show', () => {
  it('shows turns, calls and shortened results of the latest session', async () => {
    const { store, clock, lines, run } = scene();
    await add(store, 'old', 'old one');
    clock.move(1_000);
    await add(store, 's1', 'look around', [said('user', 'look'), ...group(1, 1), said('assistant', 'done'), said('user', 'more')]);
    expect(await run(['show'])).toBe(0);
    expect(lines[0]).toMatch(/^s1 · m-1 · 2 turns · \d{4}-/);
    expect(lines.slice(1)).toEqual([
      'look around',
      '── [USER Turn 1] ──',
      'look',
      '── [ASSISTANT] ──',
      'looking 1',
      '── [TOOL CALL: shell] ──',
      '{"command":"ls 0"}',
      '── [TOOL RESULT: shell] ──',
      `${'x'.repeat(200)}…`,
      '── [ASSISTANT] ──',
      'done',
      '── [USER Turn 2] ──',
      'more',
    ]);
  });

  it('exits with 1 for a session that does not exist, 3 for an id that cannot be one', async () => {
    const { errors, run } = scene();
    expect(await run(['show'])).toBe(1);
    expect(await run(['show', 'absent'])).toBe(1);
    expect(errors.at(-1)).toContain('absent');
    expect(await run(['show', '../x'])).toBe(3);
    expect(await run(['show', 'a', 'b'])).toBe(3);
  });
});

describe('session delete', () => {
  it('deletes, and tells what is not there or in use', async () => {
    const { store, lines, errors, run } = scene();
    await add(store, 's1', 'one');
    expect(await run(['delete', 's1'])).toBe(0);
    expect(lines).toEqual(['Deleted session s1.']);
    expect(await run(['delete', 's1'])).toBe(1);
    expect(errors[0]).toContain('s1');
    await store.create(newSession('s2'));
    await expect(run(['delete', 's2'])).rejects.toMatchObject({ code: 'session_busy' });
    expect(await run(['delete'])).toBe(3);
  });
});

describe('session cleanup', () => {
  it('removes what is older, listed or not, and says how many', async () => {
    const { store, clock, lines, run } = scene();
    await add(store, 's1', 'old');
    await (await store.create(newSession('s2', { listed: false }))).close();
    await store.create(newSession('held'));
    clock.move(8 * DAY_MS);
    await add(store, 's3', 'new');
    expect(await run(['cleanup', '7'])).toBe(0);
    expect(lines).toEqual(['Cleaned up 2 session(s) older than 7 days.']);
    expect(await run(['cleanup', '0'])).toBe(0);
    expect(lines[1]).toBe('Cleaned up 1 session(s) older than 0 days.');
    expect((await store.find({ limit: 9 })).map(({ id }) => id)).toEqual(['held']);
  });

  it('goes through more sessions than one page, past those that are held', async () => {
    const { store, lines, run } = scene();
    for (let index = 0; index < 600; index++) await store.create(newSession(`held${index}`));
    for (let index = 0; index < 600; index++) await add(store, `free${index}`, 'x');
    await run(['cleanup', '0']);
    expect(lines).toEqual(['Cleaned up 600 session(s) older than 0 days.']);
  });

  it('refuses what is no number of days', async () => {
    const { run, errors } = scene();
    for (const days of ['', '-1', '1.5', 'x', '1e3']) expect(await run(['cleanup', days])).toBe(3);
    expect(await run(['cleanup'])).toBe(3);
    expect(errors[0]).toContain('whole number of days');
  });
});

describe('session trim', () => {
  it('appends a view and rewrites nothing', async () => {
    const { store, lines, run } = scene();
    const talk = Array.from({ length: 25 }, (_, index) => [said('user', `q${index}`), said('assistant', `a${index}`)]).flat();
    await add(store, 's1', 'talk', talk);
    expect(await run(['trim', 's1', '10'])).toBe(0);
    expect(lines).toEqual(['Trimmed session s1: 50 → 10 messages (40 dropped)']);
    const { records, header } = await store.read('s1');
    expect(records.length).toBe(51);
    expect(records[50]?.record).toEqual({ kind: 'view', dropped: [[1, 40]], shortened: [] });
    expect(header.messages).toBe(50);
    expect(foldJournal(records).entries.map(({ message }) => message.content)).toEqual(
      talk.slice(40).map((record) => (record.kind === 'message' ? record.message.content : '')),
    );
    await run(['trim', 's1', '10']);
    expect(lines[1]).toBe('Trimmed session s1: 10 → 10 messages (0 dropped)');
    expect((await store.read('s1')).records.length).toBe(51);
    await run(['trim', 's1', '4']);
    expect(lines[2]).toBe('Trimmed session s1: 10 → 4 messages (6 dropped)');
  });

  it('refuses numbers below two, and sessions that are absent or held', async () => {
    const { store, run } = scene();
    for (const count of ['1', '0', '-3', '2.5', 'x', '']) expect(await run(['trim', 's1', count])).toBe(3);
    expect(await run(['trim', 's1'])).toBe(3);
    expect(await run(['trim', 'absent', '5'])).toBe(1);
    await store.create(newSession('held'));
    await expect(run(['trim', 'held', '5'])).rejects.toMatchObject({ code: 'session_busy' });
  });

  it('leaves the session to others when it is done', async () => {
    const { store, run } = scene();
    await add(store, 's1', 'talk', [said('user', 'a'), said('assistant', 'b'), said('user', 'c')]);
    await run(['trim', 's1', '2']);
    expect((await store.open('s1', { waitMs: 0 }, never)).records.length).toBe(4);
  });

  it('keeps system messages and never parts results from their calls', () => {
    const step = fc.oneof(
      fc.constant<readonly JournalRecord[]>([said('user', 'ask')]),
      fc.constant<readonly JournalRecord[]>([said('assistant', 'tell')]),
      fc.integer({ min: 1, max: 5 }).map((calls) => group(0, calls)),
    );
    const system: JournalRecord = { kind: 'message', run: 'r1', iteration: 0, message: { role: 'system', content: 'be good' } };
    fc.assert(
      fc.property(fc.boolean(), fc.array(step, { maxLength: 20 }), fc.integer({ min: 2, max: 12 }), (withSystem, steps, keep) => {
        const grouped = steps.flatMap((records, index) => (records.length > 1 ? group(index + 1, records.length - 1) : records));
        const records: StoredRecord[] = [...(withSystem ? [system] : []), ...grouped].map((record, index) => ({
          seq: index + 1,
          at: 0,
          record,
        }));
        const before = foldJournal(records).entries;
        const { view, after } = planTrim(records, keep);
        const trimmed = view === undefined ? records : [...records, { seq: records.length + 1, at: 0, record: view }];
        const folded = foldJournal(trimmed).entries;
        expect(folded.length).toBe(after);
        const roles = folded.map(({ message }) => message.role);
        if (withSystem) expect(roles[0]).toBe('system');
        const body = withSystem ? folded.slice(1) : folded;
        expect(body[0]?.message.role).not.toBe('tool');
        expect(body).toEqual(body.length === 0 ? [] : before.slice(-body.length));
        const largest = Math.max(
          1,
          ...grouped.map((record) =>
            record.kind === 'message' && record.message.role === 'assistant' ? 1 + (record.message.toolCalls?.length ?? 0) : 1,
          ),
        );
        expect(after).toBeLessThanOrEqual(Math.max(keep, largest + (withSystem ? 1 : 0)));
        expect(after).toBeGreaterThanOrEqual(Math.min(before.length, Math.min(keep, keep - largest + 1)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('session export', () => {
  it('prints the header, the journal and the messages as JSON', async () => {
    const { store, lines, run } = scene();
    await add(store, 's1', 'look', [said('user', 'look'), ...group(1, 2)]);
    expect(await run(['export', 's1'], { format: 'json' })).toBe(0);
    const exported = JSON.parse(lines.join('\n'));
    expect(exported.session).toMatchObject({ id: 's1', turns: 1 });
    expect(exported.journal.length).toBe(4);
    expect(exported.messages.map((message: Message) => message.role)).toEqual(['user', 'assistant', 'tool', 'tool']);
    expect(exported.messages[2].callId).toBe('c1-0');
    expect(await run(['export', 's1'], { format: 'yaml' })).toBe(3);
    expect(await run(['export', 'absent'])).toBe(1);
  });
});

describe('session', () => {
  it('names its actions when none or an unknown one is given', async () => {
    const { errors, run } = scene();
    expect(await run([])).toBe(3);
    expect(await run(['lst'])).toBe(3);
    expect(await run(['constructor'])).toBe(3);
    expect(errors[1]).toBe('session has no "lst"; it has: list, show, export, delete, trim, cleanup');
    expect(await run(['cleanup', '3'], { json: true })).toBe(3);
  });

  it('works on the database too', async () => {
    const place = tempPlace();
    const { sessions, close } = await open(place.path);
    await add(
      sessions,
      's1',
      'talk',
      Array.from({ length: 12 }, (_, index) => said(index % 2 === 0 ? 'user' : 'assistant', `m${index}`)),
    );
    const lines: string[] = [];
    const deps = { store: sessions, out: (line: string) => void lines.push(line), err: () => {}, now: Date.now };
    for (const args of [['trim', 's1', '4'], ['list'], ['cleanup', '0'], ['list']]) expect(await runSessionCommand(args, deps)).toBe(0);
    expect(lines[0]).toBe('Trimmed session s1: 12 → 4 messages (8 dropped)');
    expect(lines[2]).toBe('s1  6      m-1    talk');
    expect(lines[3]).toBe('Cleaned up 1 session(s) older than 0 days.');
    await close();
    place.remove();
  });
});
