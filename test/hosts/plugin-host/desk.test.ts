import { afterEach, describe, expect, it } from 'vitest';
import type { ToolExecution } from '../../../ports/plugin.ts';
import { createFakeLauncher, type FakeContext, type FakePlugin, fakeCommand, fakeHook, fakeTool } from './fake-host.ts';
import { bundle, createDeskHarness, type DeskHarness } from './harness.ts';

let harness: DeskHarness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

async function start(plugins: Readonly<Record<string, FakePlugin>>, options: Parameters<typeof createDeskHarness>[1] = {}) {
  harness = await createDeskHarness(plugins, options);
  return harness;
}

const greet: FakePlugin = async (ctx) => {
  await ctx.register(...fakeTool('hello_greet', ({ name }: { name: string }) => `Hello, ${name}!`));
};

function execution(signal: AbortSignal = new AbortController().signal): ToolExecution {
  return { signal, callId: 'c1', args: {}, workspace: '/w', dataDir: '/d' };
}

async function call(it: DeskHarness, name: string, input: unknown = {}, signal?: AbortSignal) {
  const tool = it.registry.get(name);
  if (tool === undefined) throw new Error(`no tool ${name}`);
  return tool.spec.execute(input as never, execution(signal));
}

const until = async (check: () => boolean): Promise<void> => {
  for (let turn = 0; turn < 2_000 && !check(); turn += 1) await new Promise((resolve) => setTimeout(resolve, 5));
  expect(check()).toBe(true);
};

const hookCall = { name: 'shell', callId: 'c', input: {}, mode: 'headless', workspace: '/w', model: 'm' } as const;
const ask = (it: DeskHarness) => it.desk.preExecute(hookCall, new AbortController().signal);

describe('tools of plugins', () => {
  it('are registered under a foreign owner, run in their process and say where they come from', async () => {
    const it = await start({ hello: greet });
    expect(it.registry.get('hello_greet')?.owner).toBe('extension:hello');
    expect(await call(it, 'hello_greet', { name: 'Ada' })).toEqual({
      content: 'Hello, Ada!',
      failed: false,
      source: 'extension:hello/hello_greet',
    });
  });

  it('declare no effects that anybody could believe', async () => {
    const it = await start({ hello: greet });
    expect(it.registry.get('hello_greet')?.spec.effects).toBeUndefined();
  });

  it('never see an input that does not fit their schema', async () => {
    let seen = 0;
    const it = await start({
      strict: async (ctx) => {
        const schema = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false };
        await ctx.register(...fakeTool('strict_add', () => String(++seen), { input_schema: schema }));
      },
    });
    await expect(call(it, 'strict_add', { n: 'one' })).rejects.toThrow(/invalid arguments/);
    expect(seen).toBe(0);
  });

  it.each([
    ['shell', /reserved/],
    ['read_secrets', /reserved/],
    ['mcp_thing', /reserved/],
    ['ext_thing', /reserved/],
    ['a__b', /without "__"/],
    ['9lives', /begin with a letter/],
  ])('may not be called %s', async (name, reason) => {
    const it = await start({ bad: async (ctx) => void (await ctx.register(...fakeTool(name, () => ''))) });
    expect(it.registry.get(name)).toBeUndefined();
    expect(it.desk.report().plugins[0]).toMatchObject({ state: 'failed', why: expect.stringMatching(reason) });
  });

  it.each([
    ['a description of more than 4 KiB', { description: 'x'.repeat(4097) }, /description/],
    ['a schema of more than 64 KiB', { input_schema: { type: 'object', description: 'x'.repeat(65_536) } }, /input schema/],
    ['a schema that cannot be compiled', { input_schema: { type: 'object', properties: { a: { type: 'nothing' } } } }, /cannot be used/],
    ['a schema that refers elsewhere', { input_schema: { type: 'object', $ref: 'https://example.org/s.json' } }, /cannot be used/],
    ['a schema of no object', { input_schema: { type: 'string' } }, /"type": "object"/],
    ['hidden characters in its description', { description: 'good\u202etool' }, /hidden/],
  ])('are refused with %s', async (_what, more, reason) => {
    const it = await start({ bad: async (ctx) => void (await ctx.register(...fakeTool('bad_tool', () => '', more as never))) });
    expect(it.registry.get('bad_tool')).toBeUndefined();
    expect(it.desk.report().plugins[0]?.why).toMatch(reason);
  });

  it('of two plugins with one name: the second is refused, and odek starts', async () => {
    const it = await start({ one: greet, two: greet });
    const states = Object.fromEntries(it.desk.report().plugins.map(({ name, state }) => [name, state]));
    expect(states).toEqual({ one: 'active', two: 'failed' });
    expect(it.registry.get('hello_greet')?.owner).toBe('extension:one');
  });

  it('stop at 128 for one plugin', async () => {
    let refused = '';
    const it = await start({
      flood: async (ctx) => {
        for (let n = 0; n < 129; n += 1)
          await ctx.register(...fakeTool(`flood_${n}`, () => '')).catch((error: Error) => (refused = error.message));
      },
    });
    expect(it.registry.list()).toHaveLength(128);
    expect(refused).toMatch(/128 tools, which is the limit/);
  });
});

describe('owners', () => {
  it('are known by their token: a forged one registers nothing', async () => {
    let refused: unknown;
    const it = await start({
      forger: async (ctx) => {
        const owner = { ...ctx.owner, owner_token: 'f'.repeat(48) };
        refused = await ctx
          .ask({ method: 'registry/register', params: { owner, entry: 'main.mts', spec: fakeTool('forged_tool', () => '')[0] } })
          .catch((error: unknown) => error);
      },
    });
    expect(String(refused)).toMatch(/not active/);
    expect(it.registry.get('forged_tool')).toBeUndefined();
  });

  it('undo exactly their own registration, never a newer one of the same name', async () => {
    let old = '';
    let context: FakeContext | undefined;
    const it = await start({
      again: async (ctx) => {
        context = ctx;
        old = await ctx.register(...fakeTool('again_tool', () => 'old'));
        await ctx.unregister(old);
        await ctx.register(...fakeTool('again_tool', () => 'new'));
      },
    });
    await context?.unregister(old);
    expect(await call(it, 'again_tool')).toMatchObject({ content: 'new' });
  });

  it('that were turned off register nothing any more', async () => {
    let context: FakeContext | undefined;
    const it = await start({
      late: (ctx) => {
        context = ctx;
      },
      other: greet,
    });
    it.set([bundle('other')]);
    await until(() => it.desk.report().plugins.length === 1);
    await expect(context?.register(...fakeTool('late_tool', () => ''))).rejects.toThrow(/not active/);
    expect(it.registry.get('late_tool')).toBeUndefined();
  });

  it('lose their tools at once when they are turned off, while the others go on', async () => {
    const it = await start({
      hello: greet,
      other: async (ctx) => void (await ctx.register(...fakeTool('other_tool', () => 'still here'))),
    });
    const tool = it.registry.get('hello_greet');
    it.set([bundle('other')]);
    await until(() => it.registry.get('hello_greet') === undefined);
    await expect(tool?.spec.execute({ name: 'x' } as never, execution())).rejects.toThrow(/turned off/);
    expect(await call(it, 'other_tool')).toMatchObject({ content: 'still here' });
    expect(it.launcher.processes).toHaveLength(1);
  });

  it('that change get a new generation', async () => {
    const it = await start({ hello: greet });
    expect(it.desk.report().plugins[0]?.generation).toBe(1);
    it.set([bundle('hello', { contentHash: 'b'.repeat(64) })]);
    await until(() => it.desk.report().plugins[0]?.generation === 2 && it.registry.get('hello_greet') !== undefined);
    expect(await call(it, 'hello_greet', { name: 'you' })).toMatchObject({ content: 'Hello, you!' });
  });
});

describe('a process', () => {
  it('is not started where no plugin has code', async () => {
    const it = await start({ plain: greet }, { bundles: [bundle('plain', { entries: [], table: {} })] });
    expect(it.launcher.processes).toHaveLength(0);
  });

  it('serves plugins with the same grants, and each other set has its own', async () => {
    const it = await start(
      { a: () => {}, b: () => {}, c: () => {} },
      { bundles: [bundle('a'), bundle('b'), bundle('c', { services: ['files'] })] },
    );
    expect(it.launcher.processes.map(({ spec }) => spec.readable.length)).toEqual([2, 1]);
  });

  it('that crashes is started again, with its tools back and nothing sent twice', async () => {
    let calls = 0;
    let context: FakeContext | undefined;
    const it = await start({
      shaky: async (ctx) => {
        context = ctx;
        await ctx.register(
          ...fakeTool('shaky_tool', () => {
            calls += 1;
            if (calls === 1) ctx.process.crash();
            return `call ${calls}`;
          }),
        );
      },
    });
    await expect(call(it, 'shaky_tool')).rejects.toThrow(/ended while its tool ran|ended/);
    expect(it.registry.get('shaky_tool'), 'its name stays known').toBeDefined();
    await until(() => it.desk.report().plugins[0]?.state === 'active');
    expect(calls).toBe(1);
    expect(await call(it, 'shaky_tool')).toMatchObject({ content: 'call 2' });
    expect(context?.owner.generation).toBe(2);
  });

  it('stays down after the third crash in five minutes, until somebody reloads', async () => {
    const it = await start({ hello: greet });
    for (let crash = 1; crash <= 3; crash += 1) {
      await until(() => it.launcher.processes.length === crash && it.desk.report().plugins[0]?.state === 'active');
      it.launcher.processes.at(-1)?.crash();
    }
    expect(it.desk.report().hosts[0]).toMatchObject({ phase: 'stopped', why: expect.stringMatching(/crashed too often/) });
    expect(it.registry.get('hello_greet')).toBeUndefined();
    await it.desk.reload(true);
    expect(await call(it, 'hello_greet', { name: 'again' })).toMatchObject({ content: 'Hello, again!' });
  });

  it('that dies while a plugin is activated pins it on that plugin; the others come back', async () => {
    const it = await start({ hello: greet, bomb: (ctx) => ctx.process.crash('out of memory') });
    await until(() => it.desk.report().plugins.find(({ name }) => name === 'hello')?.state === 'active');
    expect(it.desk.report().plugins.find(({ name }) => name === 'bomb')).toMatchObject({
      state: 'failed',
      why: expect.stringMatching(/crashed while/),
    });
    expect(it.launcher.processes).toHaveLength(2);
  });

  it('that cannot be started turns its plugins off with the reason, and odek goes on', async () => {
    const it = await start({});
    it.launcher.fault = new Error('bwrap: setting up uid map: Permission denied');
    it.set([bundle('hello')]);
    await until(() => it.desk.report().hosts[0]?.phase === 'failed');
    expect(it.desk.report().hosts[0]?.why).toContain('bwrap: setting up uid map');
    expect(it.logged.join('\n')).toContain('Permission denied');
  });

  it('with a plugin that threw outside any call loses that plugin alone', async () => {
    const it = await start({ hello: greet, faulty: async (ctx) => void (await ctx.register(...fakeTool('faulty_tool', () => ''))) });
    const { listener } = it.launcher.processes[0] ?? {};
    const owner = it.launcher.processes[0]?.handlers.values().next().value?.owner;
    const faulty = [...(it.launcher.processes[0]?.handlers.values() ?? [])].find((each) => each.owner !== owner)?.owner;
    listener?.notice({ kind: 'faulted', ...(faulty && { owner: faulty }), message: 'boom' });
    expect(it.registry.get('faulty_tool')).toBeUndefined();
    expect(await call(it, 'hello_greet', { name: 'x' })).toMatchObject({ content: 'Hello, x!' });
    expect(
      it.desk
        .report()
        .plugins.find(({ name }) => name === 'faulty')
        ?.diagnostics.at(-1)?.text,
    ).toContain('boom');
  });

  it('keeps the last 64 diagnostics', async () => {
    const it = await start({ hello: greet });
    for (let n = 0; n < 100; n += 1) it.launcher.processes[0]?.listener.notice({ kind: 'log', level: 'info', message: `line ${n}` });
    expect(it.desk.report().diagnostics).toHaveLength(64);
    expect(it.desk.report().diagnostics.at(-1)?.text).toBe('line 99');
  });
});

describe('listeners before a call', () => {
  it('revise in order, the last one wins, and a denial wins over all', async () => {
    const it = await start({
      a: async (ctx) => void (await ctx.register(...fakeHook(() => ({ kind: 'revise', input: { n: 1 } })))),
      b: async (ctx) => void (await ctx.register(...fakeHook(() => ({ kind: 'revise', input: { n: 2 } })))),
    });
    expect(await ask(it)).toMatchObject({ kind: 'go', revision: { by: 'extension:b', input: { n: 2 } } });
  });

  it('that throw, or answer what has no meaning, deny', async () => {
    for (const bad of [
      () => {
        throw new Error('broken');
      },
      () => ({ kind: 'approve' }) as never,
      () => ({ kind: 'revise', input: 'text' }) as never,
      () => ({ kind: 'revise', input: { text: 'x'.repeat(32_768) } }) as never,
    ]) {
      const it = await start({ guard: async (ctx) => void (await ctx.register(...fakeHook(bad))) });
      expect(await ask(it)).toMatchObject({ kind: 'deny', by: 'extension:guard' });
      await it.close();
    }
  });

  it('whose process was shot down deny until it is back or turned off', async () => {
    const it = await start({ guard: async (ctx) => void (await ctx.register(...fakeHook(() => ({ kind: 'abstain' })))) });
    for (let crash = 1; crash <= 3; crash += 1) {
      await until(() => it.launcher.processes.length === crash && it.desk.report().plugins[0]?.state === 'active');
      it.launcher.processes.at(-1)?.crash();
    }
    expect(await ask(it)).toMatchObject({ kind: 'deny', reason: expect.stringMatching(/not running/) });
    it.set([]);
    await until(() => it.desk.report().plugins.length === 0);
    expect(await ask(it)).toEqual({ kind: 'go', notes: [] });
  });

  it('that throw outside any call go on denying', async () => {
    const it = await start({ guard: async (ctx) => void (await ctx.register(...fakeHook(() => ({ kind: 'abstain' })))) });
    const owner = it.launcher.processes[0]?.handlers.values().next().value?.owner;
    it.launcher.processes[0]?.listener.notice({ kind: 'faulted', ...(owner && { owner }), message: 'boom' });
    expect(await ask(it)).toMatchObject({ kind: 'deny' });
  });
});

describe('commands of plugins', () => {
  it('are listed with their origin and answer', async () => {
    const it = await start({
      hello: async (ctx) =>
        void (await ctx.register(
          ...fakeCommand('hello-greet', ({ raw_input }: { raw_input: string }) => ({ kind: 'success', text: `Hi${raw_input}` })),
        )),
    });
    expect(it.desk.commands.list()).toMatchObject([{ name: 'hello-greet', origin: 'extension:hello' }]);
    const signal = new AbortController().signal;
    expect(await it.desk.commands.run('hello-greet', { args: 'Ada', workspace: '/w', signal })).toEqual({
      kind: 'success',
      text: 'Hi Ada',
    });
  });

  it('may not take the name of one of odek, and show no terminal sequences', async () => {
    const it = await start({
      bad: async (ctx) => void (await ctx.register(...fakeCommand('help', () => ({ kind: 'success', text: '' })))),
    });
    expect(it.desk.report().plugins[0]?.why).toMatch(/odek's own/);
    await it.close();
    const other = await start({
      esc: async (ctx) => void (await ctx.register(...fakeCommand('esc', () => ({ kind: 'success', text: '\u001b[2Jgone' })))),
    });
    const answer = await other.desk.commands.run('esc', { args: '', workspace: '/w', signal: new AbortController().signal });
    expect(answer.text).not.toContain('\u001b');
  });

  it('submit at most 128 KiB, and text is cut at 64 KiB', async () => {
    const it = await start({
      big: async (ctx) => {
        await ctx.register(...fakeCommand('big-prompt', () => ({ kind: 'submit', text: '', prompt: 'x'.repeat(131_073) })));
        await ctx.register(...fakeCommand('big-text', () => ({ kind: 'success', text: 'x'.repeat(100_000) })));
      },
    });
    const run = (name: string) => it.desk.commands.run(name, { args: '', workspace: '/w', signal: new AbortController().signal });
    expect(await run('big-prompt')).toMatchObject({ kind: 'error' });
    expect((await run('big-text')).text.length).toBeLessThan(66_000);
  });
});

describe('prompt sections', () => {
  const section = (name: string, text: string, interpolate?: 'model-cwd') =>
    ({ kind: 'prompt_section', name, text, ...(interpolate && { interpolate }) }) as const;
  const facts = { model: 'm-1', cwd: '/work' };

  it('are attributed, sorted, expanded where they ask for it, and go with their owner', async () => {
    const it = await start({
      zeta: async (ctx) => void (await ctx.register(section('b', 'Uses {{model}} in {{cwd}}.', 'model-cwd'))),
      alpha: async (ctx) => void (await ctx.register(section('a', 'Literal {{model}}.'))),
    });
    expect(it.desk.prompt.render(facts)).toBe('[extension:alpha/a]\nLiteral {{model}}.\n\n[extension:zeta/b]\nUses m-1 in /work.');
    it.set([bundle('alpha')]);
    await until(() => it.desk.prompt.render(facts)?.includes('zeta') === false);
  });

  it('of more than 4 KiB, or more than 32 KiB together, are refused', async () => {
    const refused: string[] = [];
    const it = await start({
      wordy: async (ctx) => {
        await ctx.register(section('long', 'x'.repeat(4097))).catch((error: Error) => refused.push(error.message));
        for (let n = 0; n < 9; n += 1)
          await ctx.register(section(`s${n}`, 'x'.repeat(4096))).catch((error: Error) => refused.push(error.message));
      },
    });
    expect(refused).toEqual([expect.stringMatching(/4097 bytes, the limit is 4096/), expect.stringMatching(/limit is 32768/)]);
    expect(it.desk.prompt.render(facts)).toBeDefined();
  });
});

it('the fake process refuses what a real one would: a handle that it does not know', async () => {
  const launcher = createFakeLauncher({});
  const listener = { request: async () => ({}), notice: () => {} };
  const host = await launcher.start({ name: 'x', readable: [], writable: [] }, listener, new AbortController().signal);
  const { result } = host.call(
    { method: 'tool/call', deadlineMs: 10, params: { handle: 'none', call_id: '1', input: {} } },
    new AbortController().signal,
  );
  await expect(result).rejects.toMatchObject({ code: 'extension_not_available' });
});
