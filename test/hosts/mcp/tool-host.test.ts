import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { embeddedConfig } from '../../../hosts/embed/config.ts';
import { openToolHost, type ToolHost } from '../../../hosts/mcp/tool-host.ts';
import { definePlugin, defineTool, type Services } from '../../../ports/plugin.ts';

let folder: string;
let host: ToolHost | undefined;
let registrar: Services['tools'] | undefined;
const calls: string[] = [];

/** A tool that touches nothing. */
const harmless = (name: string, act: () => string = () => 'ok') =>
  defineTool<object>({
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object' },
    effects: () => ({}),
    execute: async () => act(),
  });

async function open(names: readonly string[], config: Readonly<Record<string, unknown>> = {}): Promise<ToolHost> {
  const resolved = embeddedConfig(config, { stateDir: join(folder, 'state'), workspace: folder }, () => {});
  host = await openToolHost({
    environment: {
      config: resolved,
      selection: { id: 'none', include_reasoning: false, model: 'none' },
      env: {},
      workspace: folder,
      systemPrompt: '',
      dataDirOf: (plugin) => join(folder, plugin),
      builtIns: ['calc'],
      eventsIncludeArgs: false,
    },
    edges: {
      onEvent: () => {},
      log: () => {},
      plugins: [
        definePlugin({
          name: 'given',
          inject: ['tools'],
          apply({ tools }) {
            registrar = tools;
            for (const name of names) tools.register(harmless(name));
          },
        }),
      ],
    },
    onCall: (name, { outcome }) => calls.push(`${name} ${outcome}`),
  });
  return host;
}

beforeEach(async () => {
  folder = await realpath(await mkdtemp(join(tmpdir(), 'odek-tool-host-')));
  calls.length = 0;
});

afterEach(async () => {
  await host?.close();
  host = undefined;
  await rm(folder, { recursive: true, force: true });
});

const quiet = () => new AbortController().signal;

describe('the tools of a host without a model', () => {
  it('are those of its plugins, without the ones that belong to a run, and no others can be called', async () => {
    const opened = await open(['memory', 'delegate_tasks', 'clarify', 'send_message', 'bg_start', 'greet']);
    expect(opened.list().map(({ name }) => name)).toEqual(['greet', 'math_eval']);
    for (const name of ['memory', 'delegate_tasks', 'clarify', 'send_message', 'bg_start', 'nothing']) expect(opened.has(name)).toBe(false);
    expect(opened.has('greet')).toBe(true);
  });

  it('follow the filter of the operator', async () => {
    const opened = await open(['greet', 'part'], { tools: { enabled: ['greet', 'part'], disabled: ['part'] } });
    expect(opened.list().map(({ name }) => name)).toEqual(['greet']);
  });

  it('are offered anew when one comes or goes', async () => {
    const opened = await open(['greet']);
    let told = 0;
    const stop = opened.onChange(() => {
      told += 1;
    });
    const dispose = registrar?.register(harmless('later'));
    expect(told).toBe(1);
    expect(opened.list().map(({ name }) => name)).toContain('later');
    dispose?.();
    expect(told).toBe(2);
    stop();
    registrar?.register(harmless('last'));
    expect(told).toBe(2);
  });

  it('answer calls and tell how each ended; one that breaks down says nothing of why', async () => {
    const opened = await open(['greet']);
    registrar?.register(
      harmless('panics', () => {
        throw new RangeError('secret detail');
      }),
    );
    expect(await opened.call('greet', {}, quiet())).toMatchObject({ isError: false, text: expect.stringContaining('ok') });
    const panicked = await opened.call('panics', {}, quiet());
    expect(panicked).toMatchObject({ isError: true, text: expect.stringContaining('tool handler panicked') });
    expect(panicked.text).not.toContain('secret detail');
    expect(calls).toEqual(['greet completed', 'panics failed']);
  });

  it('need no provider, and nothing of the state but the database', async () => {
    const opened = await open([], { provider: 'nobody-knows-it' });
    expect(await opened.call('math_eval', { expression: '6*7' }, quiet())).toMatchObject({ text: expect.stringContaining('42') });
  });

  it('are cancelled when the host closes', async () => {
    const opened = await open([]);
    let signal: AbortSignal | undefined;
    registrar?.register({
      ...harmless('waits'),
      execute: (_input: never, exec) =>
        new Promise((_, reject) => {
          signal = exec.signal;
          exec.signal.addEventListener('abort', () => reject(new Error('stopped')));
        }),
    });
    const running = opened.call('waits', {}, quiet());
    await expect.poll(() => signal).toBeDefined();
    await opened.close();
    expect(signal?.aborted).toBe(true);
    expect((await running).isError).toBe(true);
  });
});
