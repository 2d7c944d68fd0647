import { readFile, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Ended, ROOT, run } from '../package/packed.ts';

interface Line {
  readonly schema: string;
  readonly type: string;
  readonly tool?: string;
  readonly iteration?: number;
  readonly data: { readonly call_id?: string };
}

describe('npm start', () => {
  let ended: Ended;
  let folder = '';
  let events: Line[] = [];

  beforeAll(async () => {
    // A key and a provider of the person's own must not matter: this run has neither key nor network.
    const env = { ODEK_MODEL: 'other', ODEK_BASE_URL: 'http://127.0.0.1:9/v1', ODEK_API_KEY: 'not-a-key' };
    ended = await run(process.execPath, [join(ROOT, 'hosts/demo.ts')], { cwd: ROOT, env });
    const file = /^event file {2}(.+)$/m.exec(ended.stdout)?.[1] ?? '';
    if (ended.code !== 0 || file === '') throw new Error(`the first run ended with ${ended.code}:\n${ended.stdout}\n${ended.stderr}`);
    folder = dirname(file);
    events = (await readFile(file, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
  }, 60_000);

  afterAll(() => (folder === '' ? undefined : rm(folder, { recursive: true, force: true })));

  test('ends with an answer that a person can read', () => {
    expect(ended.stdout).toContain('report.md');
    expect(ended.stdout).toContain('Ben 26 hours');
  });

  test('shows each tool call', () => {
    const shown = ended.stdout + ended.stderr;
    for (const tool of ['glob', 'read_file', 'search_files', 'write_file']) expect(shown).toContain(tool);
  });

  test('read files, ran a parallel batch and wrote the report into the temporary folder', async () => {
    expect(await readFile(join(folder, 'sample/report.md'), 'utf8')).toContain('Ben has 26 hours');
    const started = events.filter((event) => event.type === 'tool_call_started');
    const toolsOf = (iteration: number): (string | undefined)[] =>
      started
        .filter((event) => event.iteration === iteration)
        .map((event) => event.tool)
        .sort();
    expect([1, 2, 3].map(toolsOf)).toEqual([
      ['glob', 'read_file'],
      ['read_file', 'read_file', 'read_file', 'search_files'],
      ['write_file'],
    ]);
    // At some moment of the batch more than one call was running.
    let running = 0;
    const counts = events
      .filter((event) => event.iteration === 2)
      .map((event) => {
        running += event.type === 'tool_call_started' ? 1 : event.type === 'tool_call_completed' ? -1 : 0;
        return running;
      });
    expect(Math.max(...counts)).toBeGreaterThan(1);
  });

  test('left a complete event file, and its summary counts what is in it', async () => {
    expect(events.every((event) => event.schema === 'odek.event/v1')).toBe(true);
    expect(events[0]?.type).toBe('run_started');
    expect(events.at(-1)?.type).toBe('run_completed');
    const completed = events.filter((event) => event.type === 'tool_call_completed').map((event) => event.data.call_id);
    expect(completed.sort()).toEqual(
      events
        .filter((event) => event.type === 'tool_call_started')
        .map((event) => event.data.call_id)
        .sort(),
    );
    expect(ended.stdout).toContain(`\n${events.length} events\n`);
    expect(ended.stdout).toMatch(/tool_call_started +7\n/);
    expect((await stat(join(folder, 'events.jsonl'))).mode & 0o777).toBe(0o600);
  });

  test('left the sample itself as it was', async () => {
    await expect(stat(join(ROOT, 'docs/examples/sample/report.md'))).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
