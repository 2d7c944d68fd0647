import { describe, expect, it } from 'vitest';
import { onStage, PATIENT } from '../support/stage.ts';

const count = (text: string, part: string): number => text.split(part).length - 1;

describe.concurrent('odek run on a terminal', PATIENT, () => {
  it('ends with the answer once, one line a tool call, a summary, and no status line', () =>
    onStage(
      [
        {
          reasoning: ['Let me ', 'think.'],
          text: ['I look ', 'around.'],
          calls: [
            { name: 'glob', arguments: { pattern: '*.txt' } },
            { name: 'read_file', arguments: { path: 'notes.txt' } },
          ],
          chunkDelayMs: 40,
        },
        { text: ['# Found\n\n', 'The **notes** say ', '`hello`.\n\n- one\n- two\n'], chunkDelayMs: 60 },
      ],
      async ({ terminal, file }) => {
        await file('notes.txt', 'hello\n');
        const { screen, exit } = await terminal(['run', 'what do the notes say?'], []);
        expect(exit).toBe(0);
        const text = screen.text();
        expect(count(text, 'The notes say hello.')).toBe(1);
        expect(count(text, 'I look around.')).toBe(1);
        expect(count(text, 'glob *.txt')).toBe(1);
        expect(count(text, 'read_file notes.txt')).toBe(1);
        expect(text).toMatch(/answer · 2 iterations · 2 tool calls/);
        // The status line says what is going on; at the end nothing is.
        expect(screen.lines().at(-1)).toMatch(/tokens: 200 in · 20 out/);
        expect(screen.foreign()).toEqual([]);
      },
    ));

  it('is not at the mercy of an answer, a command or a file name full of escapes', () =>
    onStage(
      [
        { text: 'A\u001b[2J\u001b[HB\u009b2JC\u001b]0;title\u0007D\rE', calls: [{ name: 'glob', arguments: { pattern: '\u001b[2J*' } }] },
        { reasoning: '\u001b[2Jhidden', text: ['safe \u001b[2', 'J\u001b[3J\u001b]8;;http://x\u0007link', ' \u202eend'] },
      ],
      async ({ terminal, file }) => {
        await file('notes\u001b[2J.txt', 'x');
        const { screen, raw, exit } = await terminal(['run', 'hello \u001b[2J'], []);
        expect(exit).toBe(0);
        expect(screen.foreign()).toEqual([]);
        for (const bad of ['\u001b[2J', '\u001b[3J', '\u001b]', '\u0007', '\u009b', '\u202e']) expect(raw).not.toContain(bad);
        expect(screen.text()).toContain('safe');
        expect(screen.text()).toContain('iteration');
      },
    ));

  it('keeps stdout free of all but the answer when it is sent into a file', () =>
    onStage([{ reasoning: 'hm', text: 'An **answer**.' }], async ({ terminal, work }) => {
      const { screen, exit } = await terminal(['run', 'hello'], [], { shell: '"$@" > answer.txt' });
      expect(exit).toBe(0);
      const { readFile } = await import('node:fs/promises');
      expect(await readFile(`${work}/answer.txt`, 'utf8')).toBe('An **answer**.\n');
      expect(screen.text()).toContain('answer · 1 iteration');
    }));

  it('uses no colour with NO_COLOR, and no escapes at all on a dumb terminal', () =>
    onStage(
      () => ({ text: 'An **answer**.' }),
      async ({ terminal }) => {
        const plain = await terminal(['run', 'hello'], [], { env: { NO_COLOR: '1' } });
        expect(plain.raw.split('\u001b[').some((part) => /^[0-9;]*m/.test(part))).toBe(false);
        const dumb = await terminal(['run', 'hello'], [], { env: { TERM: 'dumb' } });
        expect(dumb.raw).not.toContain('\u001b');
        expect(dumb.screen.text()).toContain('An answer.');
      },
    ));

  it('leaves a clean screen after Ctrl-C in the middle of an answer', () =>
    onStage([{ text: ['The answer ', 'begins ', 'and ', 'goes ', 'on'], chunkDelayMs: 2_000 }], async ({ terminal }) => {
      const { screen, exit } = await terminal(['run', 'hello'], [{ wait: 'The answer' }, { send: '\u0003' }]);
      expect(exit).toBe(130);
      const text = screen.text();
      expect(text).toContain('cancelled');
      expect(text).toContain('odek continue --id');
    }));

  it('stays readable on a narrow terminal', () =>
    onStage(
      [{ calls: [{ name: 'glob', arguments: { pattern: `${'deep/'.repeat(30)}*` } }] }, { text: 'word '.repeat(60), chunkDelayMs: 30 }],
      async ({ terminal }) => {
        const { screen, exit } = await terminal(['run', 'hello'], [], { columns: 24, rows: 8 });
        expect(exit).toBe(0);
        expect(count(screen.text().replace(/\s+/g, ' '), 'word')).toBe(60);
        expect(screen.foreign()).toEqual([]);
      },
    ));
});
