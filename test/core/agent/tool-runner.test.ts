import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { createToolRunner, type ToolRunner } from '../../../core/agent/tool-runner.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import type { DangerPolicy } from '../../../ports/approval.ts';
import { defineTool, type ToolSpec } from '../../../ports/plugin.ts';
import { fakeTool } from './harness.ts';

const SECRET = 'canary-secret-value-0123456789';
const POLICY: DangerPolicy = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' };

let workspace: string;

beforeEach(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'odek-runner-')));
});

afterEach(() => rm(workspace, { recursive: true, force: true }));

function runnerOf(
  tools: readonly ToolSpec[],
  options: { danger?: DangerPolicy; maxPending?: number; maxToolParallel?: number } = {},
): ToolRunner {
  const registry = createToolRegistry();
  for (const tool of tools) registry.registrar('test').register(tool);
  return createToolRunner(
    {
      tools: registry,
      validator: createSchemaValidator(),
      fs: createDiskFileSystem({ root: workspace, stateDir: join(workspace, '.state') }),
      clock: createSystemClock(),
      ids: createRandomIds(),
      hash: createSha256(),
      redactor: createRedactor([SECRET]),
    },
    {
      scope: { danger: options.danger ?? POLICY, workspace, toolTimeoutMs: 5_000 },
      runId: 'run',
      sessionId: 'session',
      approvalTimeoutMs: 1_000,
      maxToolParallel: options.maxToolParallel ?? 4,
      maxPending: options.maxPending ?? 16,
    },
  );
}

const writing = (act: () => Promise<string> | string): ToolSpec =>
  defineTool<{ path: string }>({
    name: 'put',
    description: 'Writes.',
    parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    effects: ({ path }) => ({ writes: [path] }),
    execute: async () => act(),
  });

const call = (name: string, input: unknown = {}) => ({ id: 'c', name, arguments: JSON.stringify(input) });
const quiet = () => new AbortController().signal;

describe('a call outside a run', () => {
  it('is validated, executed, redacted and wrapped as untrusted like a call of the loop', async () => {
    const runner = runnerOf([fakeTool('say', () => `it is ${SECRET}`)]);
    const { outcome, content, visible } = await runner.run(call('say'), quiet());
    expect(outcome).toBe('completed');
    expect(content).toMatch(/^┌── TOOL RESULT: say \[[0-9a-f]{16}\][^\n]*\n<untrusted_content_[0-9a-f]{16} source="say">\n/);
    expect(content + visible).not.toContain(SECRET);
  });

  it('is refused with the way to repair it when its arguments are wrong', async () => {
    const runner = runnerOf([fakeTool('say')]);
    const { outcome, visible } = await runner.run(call('say', { n: 'one' }), quiet());
    expect(outcome).toBe('failed');
    expect(visible).toContain('invalid arguments for tool "say"');
  });

  it('is denied with the text of the gate where nobody can approve it, and is not executed', async () => {
    let executed = false;
    const tool = writing(() => {
      executed = true;
      return 'done';
    });
    const { outcome, visible } = await runnerOf([tool]).run(call('put', { path: 'a.txt' }), quiet());
    expect(outcome).toBe('denied');
    expect(visible).toMatch(/^error: operation denied \(non-interactive mode\): put a\.txt \(local_write\)/);
    expect(executed).toBe(false);
    const allowed = runnerOf([tool], { danger: { ...POLICY, nonInteractive: 'allow' } });
    expect((await allowed.run(call('put', { path: 'a.txt' }), quiet())).outcome).toBe('completed');
    expect(executed).toBe(true);
  });

  it('says nothing of what a tool threw that is no error of its own', async () => {
    const runner = runnerOf([
      fakeTool('panics', () => {
        throw new TypeError(`value ${SECRET} of /secret/place`);
      }),
      fakeTool('fails', () => {
        throw new Error('the disk is full');
      }),
    ]);
    const panicked = await runner.run(call('panics'), quiet());
    expect(panicked).toMatchObject({ outcome: 'failed', visible: 'tool handler panicked' });
    expect(panicked.content).not.toContain('secret');
    expect((await runner.run(call('fails'), quiet())).visible).toBe('error: the disk is full');
  });

  it('waits for an earlier one that touches the same file, and only for that', async () => {
    const order: string[] = [];
    const first = Promise.withResolvers<void>();
    const tool = (name: string, act: () => Promise<void>): ToolSpec => ({
      ...writing(async () => {
        order.push(`${name} began`);
        await act();
        order.push(`${name} ended`);
        return name;
      }),
      name,
    });
    const runner = runnerOf([tool('one', () => first.promise), tool('two', async () => {})], {
      danger: { ...POLICY, nonInteractive: 'allow' },
    });
    const running = [
      runner.run(call('one', { path: 'a.txt' }), quiet()),
      runner.run(call('two', { path: 'a.txt' }), quiet()),
      runner.run(call('two', { path: 'b.txt' }), quiet()),
    ];
    await running[2];
    expect(order).toEqual(['one began', 'two began', 'two ended']);
    first.resolve();
    await Promise.all(running);
    expect(order.slice(3)).toEqual(['one ended', 'two began', 'two ended']);
  });

  it('ends at once when it is cancelled while it waits, and gives its place back', async () => {
    const hold = Promise.withResolvers<string>();
    const runner = runnerOf([fakeTool('hold', () => hold.promise), fakeTool('say')], { maxToolParallel: 1 });
    const holding = runner.run(call('hold'), quiet());
    const cancel = new AbortController();
    const waiting = runner.run(call('say'), cancel.signal);
    cancel.abort();
    expect((await waiting).outcome).toBe('cancelled');
    hold.resolve('ok');
    await holding;
    expect((await runner.run(call('say'), quiet())).outcome).toBe('completed');
  });

  it('tells a running tool that it is cancelled', async () => {
    const began = Promise.withResolvers<void>();
    const runner = runnerOf([
      fakeTool('slow', (_input, signal) => {
        began.resolve();
        return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      }),
    ]);
    const cancel = new AbortController();
    const running = runner.run(call('slow'), cancel.signal);
    await began.promise;
    cancel.abort(new Error('no longer wanted'));
    expect(await running).toMatchObject({ outcome: 'cancelled' });
  });

  it('is refused, with the limit, while too many are under way', async () => {
    const hold = Promise.withResolvers<string>();
    const runner = runnerOf([fakeTool('hold', () => hold.promise)], { maxPending: 2 });
    const running = [runner.run(call('hold'), quiet()), runner.run(call('hold'), quiet())];
    const refused = await runner.run(call('hold'), quiet());
    expect(refused).toMatchObject({ outcome: 'failed' });
    expect(refused.visible).toContain('2 calls are under way and the limit is 2');
    hold.resolve('ok');
    expect((await Promise.all(running)).map(({ outcome }) => outcome)).toEqual(['completed', 'completed']);
  });

  it('reports what it touched', async () => {
    await writeFile(join(workspace, 'a.txt'), 'x');
    const { summary } = await runnerOf([writing(() => 'done')]).run(call('put', { path: 'a.txt' }), quiet());
    expect(summary).toMatchObject({ path: 'a.txt', class: 'local_write' });
  });
});
