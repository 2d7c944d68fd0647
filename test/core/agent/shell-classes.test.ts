import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { defineTool, type ToolSpec } from '../../../ports/plugin.ts';
import { createHarness, type Harness, toolResults } from './harness.ts';

let harness: Harness;
afterEach(() => harness.close());

const ran: string[] = [];
const shell: ToolSpec = defineTool<{ command: string }>({
  name: 'shell',
  description: 'Takes note of commands.',
  parameters: { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] },
  effects: ({ command }) => ({ command }),
  execute: async ({ command }) => {
    ran.push(command);
    return 'ran';
  },
});

const readFile: ToolSpec = defineTool<{ path: string }>({
  name: 'read_file',
  description: 'Gives lines.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  effects: ({ path }) => ({ reads: [path] }),
  maxResultChars: 10_000,
  execute: async () => JSON.stringify({ content: '1|echo hello', total_lines: 1 }),
});

const step = (name: string, input: object) => ({ calls: [{ name, arguments: input }] });
const command = (text: string) => step('shell', { command: text });

describe('a shell command of a run', () => {
  it('tells its class and its program in the event, and alone runs only when it is safe', async () => {
    ran.length = 0;
    harness = await createHarness({
      tools: [shell],
      steps: [command('ls | wc -l'), command('touch x'), command('make'), command('cat .env'), { text: 'done' }],
      settings: { danger: { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' } },
    });
    await harness.run();
    const started = harness.wire().filter((event) => event.type === 'tool_call_started');
    expect(started.map((event) => event.data.args_summary)).toEqual([
      { argv0: 'ls', class: 'safe' },
      { argv0: 'touch', class: 'local_write' },
      { argv0: 'make', class: 'code_execution' },
      { argv0: 'cat', class: 'system_write' },
    ]);
    expect(ran).toEqual(['ls | wc -l']);
  });

  it('that runs a script is unread_exec until the script was read, and again after it changed', async () => {
    ran.length = 0;
    const runs = command('./run.sh');
    harness = await createHarness({
      tools: [shell, readFile],
      steps: [runs, step('read_file', { path: 'run.sh' }), runs, { text: 'done' }, runs, { text: 'done' }],
      settings: {
        danger: {
          classes: { code_execution: 'allow', safe: 'allow', unread_exec: 'deny' },
          allowlist: [],
          denylist: [],
          nonInteractive: 'read_only',
        },
      },
    });
    await writeFile(join(harness.workspace, 'run.sh'), 'echo hello');
    await harness.run();
    expect(ran).toEqual(['./run.sh']);
    const results = toolResults(harness.requests.at(-1) ?? []);
    expect(results[0]).toContain('operation denied by configuration: shell ./run.sh (unread_exec)');
    expect(results[2]).toContain('ran');
    await writeFile(join(harness.workspace, 'run.sh'), 'rm -rf ~');
    await harness.run();
    expect(ran).toEqual(['./run.sh']);
  });
});
