import { createHash } from 'node:crypto';
import { readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEvents, typesOf } from '../support/events.ts';
import { until } from '../support/processes.ts';
import { onStage, PATIENT } from '../support/stage.ts';

const BATCH = {
  calls: [
    { name: 'glob', arguments: { pattern: '*.txt' } },
    { name: 'read_file', arguments: { path: 'missing.txt' } },
    { name: 'shell', arguments: { command: 'touch it' } },
    { name: 'no_such_tool', arguments: {} },
  ],
};

describe.concurrent('odek run --events-jsonl', PATIENT, () => {
  it('writes a file of valid events for the owner alone, with every call paired', () =>
    onStage([BATCH, { text: 'done' }], async ({ run, work }) => {
      await run(['run', 'look', '--events-jsonl', 'events.jsonl']);
      const file = join(work, 'events.jsonl');
      expect((await stat(file)).mode & 0o777).toBe(0o600);
      const events = await readEvents(file);
      expect(typesOf(events, 'tool_call_started', 'tool_call_completed', 'tool_call_failed')).toEqual([
        'run_started',
        'session_saved',
        'iteration_completed',
        'session_saved',
        'iteration_completed',
        'run_completed',
      ]);
      expect(typesOf(events).filter((type) => type === 'tool_call_started')).toHaveLength(4);
      expect(typesOf(events).filter((type) => type === 'tool_call_failed')).toHaveLength(3);
      expect(new Set(events.map((event) => event.run_id)).size).toBe(1);
      const glob = events.find((event) => event.type === 'tool_call_started' && event.tool === 'glob');
      const text = JSON.stringify({ pattern: '*.txt' });
      expect(glob?.data).toMatchObject({ args_sha256: createHash('sha256').update(text).digest('hex'), args_bytes: text.length });
      expect(await readFile(file, 'utf8')).not.toContain('*.txt');
    }));

  it('adds the redacted arguments where the operator asks for them', () =>
    onStage([BATCH, { text: 'done' }], async ({ run, work }) => {
      await run(['run', 'look', '--events-jsonl', 'events.jsonl', '--events-include-args']);
      const events = await readEvents(join(work, 'events.jsonl'));
      const args = events.flatMap((event) => (event.type === 'tool_call_started' ? [event.data.args] : []));
      expect(args).toContain('{"pattern":"*.txt"}');
    }));

  it('appends to a file that is there, and makes it private', () =>
    onStage([{ text: 'one' }, { text: 'two' }], async ({ run, work, file }) => {
      const target = await file('events.jsonl', '');
      for (const task of ['one', 'two']) await run(['run', task, '--events-jsonl', 'events.jsonl']);
      expect(typesOf(await readEvents(target)).filter((type) => type === 'run_completed')).toHaveLength(2);
      expect((await stat(join(work, 'events.jsonl'))).mode & 0o777).toBe(0o600);
    }));

  it('refuses a symbolic link and a missing folder before the model is asked, and keeps no session', () =>
    onStage([], async ({ run, work, file, server }) => {
      const target = await file('target', 'untouched');
      await symlink(target, join(work, 'link.jsonl'));
      for (const path of ['link.jsonl', 'missing/events.jsonl', '.']) {
        const { code, stderr } = await run(['run', 'hello', '--events-jsonl', path]);
        expect([path, code]).toEqual([path, 3]);
        expect(stderr).toContain(`cannot write events to ${join(work, path)}`);
        expect(stderr).not.toContain('unexpected error');
      }
      expect(await readFile(target, 'utf8')).toBe('untouched');
      expect(server.count).toBe(0);
      expect((await run(['session', 'list'])).stdout).toContain('No sessions yet');
    }));

  it('is whole up to the last event when the process is killed', () =>
    onStage([BATCH, { hang: true }], async ({ start, work }) => {
      const running = start(['run', 'look', '--events-jsonl', 'events.jsonl']);
      const file = join(work, 'events.jsonl');
      await until('the first iteration in the file', async () =>
        /iteration_completed.*\n/.test(await readFile(file, 'utf8').catch(() => '')),
      );
      running.child.kill('SIGKILL');
      await running.ended;
      expect((await readEvents(file)).at(-1)).toMatchObject({ type: 'iteration_completed', iteration: 1 });
    }));
});

const sink = (accept: string): string =>
  `import { appendFileSync } from 'node:fs';
   export default { port: 'event-sink', name: 'mine', create: (options) => ({ accept: async (event) => { ${accept} }, close: async () => {} }) };`;

describe.concurrent("a sink of the operator's", PATIENT, () => {
  const config = { adapters: ['./mine.mjs'], sinks: { mine: { file: 'events.txt' } } };

  it('gets every event', () =>
    onStage(
      [BATCH, { text: 'done' }],
      async ({ run, state, work }) => {
        await writeFile(join(state, 'mine.mjs'), sink("appendFileSync(options.file, event.type + '\\n');"));
        expect(await run(['run', 'look'])).toMatchObject({ code: 0, stdout: 'done\n' });
        expect((await readFile(join(work, 'events.txt'), 'utf8')).trim().split('\n')).toHaveLength(14);
      },
      { config },
    ));

  it('that is slow does not slow the run, and what it lost is told at the end', () =>
    onStage(
      [BATCH, { text: 'done' }],
      async ({ run, state }) => {
        await writeFile(join(state, 'mine.mjs'), sink('await new Promise((resolve) => setTimeout(resolve, 60_000));'));
        const { code, stdout, stderr } = await run(['run', 'look', '--json']);
        expect(code).toBe(0);
        expect(JSON.parse(stdout).duration_ms).toBeLessThan(30_000);
        expect(stderr).toMatch(/mine.* 14 events/);
      },
      { config },
    ));

  it('that fails at every event does not harm the run, and that is told', () =>
    onStage(
      [{ text: 'done' }],
      async ({ run, state }) => {
        await writeFile(join(state, 'mine.mjs'), sink("throw new Error('no room');"));
        const { code, stdout, stderr } = await run(['run', 'look']);
        expect({ code, stdout }).toEqual({ code: 0, stdout: 'done\n' });
        expect(stderr).toMatch(/mine.* 4 events/);
      },
      { config },
    ));

  it('is not loaded for a project that names it', () =>
    onStage([{ text: 'done' }], async ({ run, work, file }) => {
      await file('odek.json', JSON.stringify({ adapters: ['./mine.mjs'], sinks: { mine: { file: 'events.txt' } } }));
      await file('mine.mjs', sink("appendFileSync(options.file, 'loaded');"));
      const { code, stderr } = await run(['run', 'look']);
      expect(code).toBe(0);
      expect(stderr).toContain('adapters is ignored');
      expect(await readdir(work)).not.toContain('events.txt');
    }));
});
