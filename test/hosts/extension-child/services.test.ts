import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type HookAnswer, HostRefusal } from '../../../ports/extension-host.ts';
import { type Answer, openStage, RUNTIMES, type Stage, sha256, until, withTools } from '../../adapters/extension-host/stage.ts';

const never = new AbortController().signal;

describe.each(RUNTIMES.map((node, index) => ({ node, name: `runtime ${index + 1}` })))('services of plugins in $name', ({ node }) => {
  let stage: Stage;
  let answer: Answer;
  beforeAll(async () => {
    stage = await openStage({ node }, (request, signal) => answer(request, signal));
  });
  beforeEach(() => {
    name = `plugin-${randomBytes(4).toString('hex')}`;
    answer = () => undefined;
  });
  afterEach(() => stage.reset());
  afterAll(() => stage.close());

  /** Of the plugin of this test; each has a folder of its own. */
  let name = '';
  const load = async (source: string): Promise<void> => {
    const result = await stage.activate(name, { 'main.mjs': source });
    expect(result.entries.map((each) => each.diagnostic)).toEqual(['']);
  };
  const textOf = async (tool: string, input?: unknown, more?: Parameters<Stage['tool']>[2]): Promise<string> =>
    (await stage.tool(tool, input, more)).content;
  const command = (name: string, raw: string, more: object = {}) =>
    stage.host.call(
      {
        method: 'command/run',
        params: { handle: stage.handleOf(name), command_id: 'c1', raw_input: raw, workspace: '/project', ...more },
        deadlineMs: 5_000,
      },
      never,
    ).result;
  const hook = (input: unknown): Promise<HookAnswer> =>
    stage.host.call(
      {
        method: 'hook/evaluate',
        params: {
          handle: stage.handleOf('tools/pre-execute'),
          event: 'tools/pre-execute',
          payload: { name: 'shell', call_id: 'c9', input, mode: 'interactive', workspace: '/project', model: 'm' },
        },
        deadlineMs: 5_000,
      },
      never,
    ).result;

  describe('storage', () => {
    const STORE = withTools(
      {
        set: 'await ctx.storage.set(input.key, input.value); return "set"',
        get: 'return JSON.stringify({ value: await ctx.storage.get(input.key) })',
        del: 'await ctx.storage.delete(input.key); return "deleted"',
        big: 'await ctx.storage.set(input.key, "x".repeat(input.size)); return "set"',
        many: 'for (let count = 0; count < 1024; count += 1) await ctx.storage.set("key-" + count, count); await ctx.storage.set("one more", 1); return "set"',
        race: 'await Promise.all(Array.from({ length: 50 }, (_, count) => ctx.storage.set("same", count))); return JSON.stringify(await ctx.storage.get("same"))',
      },
      { inject: ['tools', 'storage'] },
    );
    const folder = () => join(stage.data, name, 'storage');
    const record = (key: string) => join(folder(), `${sha256(key)}.json`);

    test('keeps JSON for each key, through a new activation', async () => {
      const params = stage.place(name, { 'main.mjs': STORE });
      await stage.host.activate(params, never);
      await stage.tool('set', { key: 'ä/../b', value: { a: [1, null] } });
      expect(JSON.parse(readFileSync(record('ä/../b'), 'utf8'))).toEqual({ version: 1, key: 'ä/../b', value: { a: [1, null] } });
      expect(statSync(record('ä/../b')).mode & 0o777).toBe(0o600);
      await stage.host.deactivate(params.owner);
      await load(STORE);
      expect(await textOf('get', { key: 'ä/../b' })).toBe('{"value":{"a":[1,null]}}');
      await stage.tool('del', { key: 'ä/../b' });
      expect(await textOf('get', { key: 'ä/../b' })).toBe('{}');
      expect(readdirSync(folder())).toEqual([]);
    });

    test('has limits, each of which is named', async () => {
      await load(STORE);
      await expect(stage.tool('set', { key: 'k'.repeat(129), value: 1 })).rejects.toThrow(/a key has 129 bytes, not 1 to 128/);
      await expect(stage.tool('set', { key: '', value: 1 })).rejects.toThrow(/a key has 0 bytes/);
      await expect(stage.tool('set', { key: 'a' })).rejects.toThrow(/cannot be written as JSON/);
      await expect(stage.tool('big', { key: 'a', size: 128 * 1024 - 1 })).rejects.toThrow(/over the limit of 131072/);
      for (let count = 0; count < 31; count += 1) await stage.tool('big', { key: `part-${count}`, size: 128 * 1024 - 2 });
      await expect(stage.tool('big', { key: 'last', size: 128 * 1024 - 2 })).rejects.toThrow(/over the limit of 4194304/);
    });

    test('takes 1,024 keys and no more, and writes of one key in their order', async () => {
      await load(STORE);
      expect(await textOf('race')).toBe('49');
      await stage.tool('del', { key: 'same' });
      await expect(stage.tool('many', {}, { deadlineMs: 60_000 })).rejects.toThrow(/1024 keys already/);
    }, 90_000);

    test('does not follow a link, and leaves what is damaged as it is', async () => {
      await load(STORE);
      await stage.tool('set', { key: 'a', value: 1 });
      writeFileSync(record('a'), '{"version":1,"key":"b","value":2}');
      await expect(stage.tool('get', { key: 'a' })).rejects.toThrow(/the record of "a" is damaged/);
      await expect(stage.tool('set', { key: 'a', value: 2 })).rejects.toThrow(/the record of "a" is damaged/);
      expect(readFileSync(record('a'), 'utf8')).toContain('"key":"b"');
      symlinkSync(record('a'), record('b'));
      await expect(stage.tool('get', { key: 'b' })).rejects.toThrow(/cannot be read/);
    });

    test('is not used behind a link', async () => {
      mkdirSync(join(stage.data, name), { recursive: true });
      mkdirSync(join(stage.data, `${name}-elsewhere`));
      symlinkSync(join(stage.data, `${name}-elsewhere`), folder());
      await load(STORE);
      await expect(stage.tool('get', { key: 'a' })).rejects.toThrow(/the storage is not a folder/);
    });
  });

  describe('commands', () => {
    const COMMANDS = withTools(
      {},
      {
        inject: ['commands'],
        head: "import { CommandDefinitionId } from '@deepseek-ai/dsh-commands/brand';",
        body: `
        const add = (name, handler, more = {}) => ctx.commands.register({ name, description: 'A command', handler, ...more });
        add('text', ({ args }) => 'hello ' + args);
        add('seen', (invocation) => JSON.stringify([invocation.args, invocation.rawInput, invocation.commandId, invocation.workspace, invocation.attachments, Object.isFrozen(invocation), invocation.dataDir.includes('/data/plugin-')]));
        add('nothing', () => {});
        add('dsh', () => ({ kind: 'error', text: 'no' }), { input: { hint: '[name]' }, definitionId: CommandDefinitionId('a') });
        add('submits', () => ({ kind: 'submit', prompt: 'do it', text: 'beside' }));
        add('follows', ({ agent }) => { agent.followup({ id: 'm', source: { kind: 'plugin' }, content: [{ type: 'text', text: 'go on' }] }); return 'ok'; });
        add('follows-twice', ({ agent }) => { const message = { content: [{ type: 'text', text: 'x' }] }; agent.followup(message); agent.followup(message); });
        add('both', ({ agent }) => { agent.followup({ content: [{ type: 'text', text: 'x' }] }); return { kind: 'submit', prompt: 'y' }; });
        add('throws', () => { throw new Error('not today'); });
        add('odd', () => ({ kind: 'approve', text: 'x' }));
        add('long', () => ({ kind: 'submit', prompt: 'x'.repeat(131073) }));
        add('waits', async ({ signal }) => { await new Promise((resolve) => signal.addEventListener('abort', resolve)); return 'heard'; });`,
      },
    );

    test('answer with text, an error or a prompt', async () => {
      await load(COMMANDS);
      expect(await command('text', ' Ada ')).toEqual({ kind: 'success', text: 'hello Ada' });
      expect(JSON.parse((await command('seen', ' a b')).text)).toEqual(['a b', ' a b', 'c1', '/project', [], true, true]);
      expect(await command('nothing', '')).toEqual({ kind: 'success', text: '' });
      expect(await command('dsh', '')).toEqual({ kind: 'error', text: 'no' });
      expect(await command('submits', '')).toEqual({ kind: 'submit', text: 'beside', prompt: 'do it' });
      expect([...stage.live.values()].find((each) => each.name === 'dsh')).toMatchObject({ kind: 'command', argument_hint: '[name]' });
    });

    test('can follow up with one message, in a session', async () => {
      await load(COMMANDS);
      expect(await command('follows', '', { session_id: 's' })).toEqual({ kind: 'submit', text: 'ok', prompt: 'go on' });
      await expect(command('follows', '')).rejects.toThrow(/followup/);
      await expect(command('follows-twice', '', { session_id: 's' })).rejects.toThrow(/one message/);
      await expect(command('both', '', { session_id: 's' })).rejects.toThrow(/not both/);
    });

    test('fail with what they throw, and with answers that are none', async () => {
      await load(COMMANDS);
      await expect(command('throws', '')).rejects.toThrow('not today');
      await expect(command('odd', '')).rejects.toThrow(/answers with text or/);
      await expect(command('long', '')).rejects.toThrow(/131073 bytes/);
    });

    test('hear that they are over time', async () => {
      await load(COMMANDS);
      const call = stage.host.call(
        { method: 'command/run', params: { handle: stage.handleOf('waits'), command_id: 'c', raw_input: '' }, deadlineMs: 100 },
        never,
      );
      const told = await call.result.catch((error: { readonly code: string }) => error.code);
      // It hears its signal in time to answer, which counts.
      expect(told).toEqual({ kind: 'success', text: 'heard' });
    });
  });

  test.each([
    ['undefined', { kind: 'abstain' }],
    ['next()', { kind: 'abstain' }],
    ['{ kind: "allow" }', { kind: 'abstain' }],
    ['{ kind: "deny", reason: "no" }', { kind: 'deny', reason: 'no' }],
    ['{ kind: "ask" }', { kind: 'ask' }],
    ['{ kind: "ask", reason: "why" }', { kind: 'ask', reason: 'why' }],
    ['{ kind: "revise", input: { command: "ls" } }', { kind: 'revise', input: { command: 'ls' } }],
    [
      '{ kind: "annotate", text: exec.name + exec.callId + exec.mode + exec.model + exec.workspace }',
      { kind: 'annotate', text: 'shellc9interactivem/project' },
    ],
    [
      '{ kind: "annotate", text: String(Object.isFrozen(exec) && Object.isFrozen(exec.arguments.deep)) }',
      { kind: 'annotate', text: 'true' },
    ],
    [
      '{ kind: "annotate", text: Object.keys(exec).sort().join() }',
      { kind: 'annotate', text: 'arguments,callId,mode,model,name,signal,workspace' },
    ],
  ])('a listener that answers %s', async (code, expected) => {
    await load(`export function apply(ctx) { ctx.on('tools/pre-execute', async (exec, next) => (${code})); }`);
    expect(await hook({ deep: {} })).toEqual(expected);
  });

  test.each([
    'true',
    '"deny"',
    '{ kind: "approve" }',
    '{ kind: "deny" }',
    '{ kind: "revise", input: [] }',
    '{ kind: "deny", reason: "x", approved: true }',
    'Promise.reject(new Error("broken"))',
  ])('a listener that answers %s fails', async (code) => {
    await load(`export function apply(ctx) { ctx.on('tools/pre-execute', async (exec, next) => (${code})); }`);
    await expect(hook({})).rejects.toMatchObject({ code: 'extension_call_failed' });
  });

  test('a listener that says "allow" is warned of once', async () => {
    await load(`export function apply(ctx) { ctx.on('tools/pre-execute', () => ({ kind: 'allow' })); }`);
    await hook({});
    await hook({});
    expect(stage.notices.filter((each) => each.kind === 'log' && /cannot approve/.test(each.message))).toHaveLength(1);
  });

  test('a listener goes with its disposer', async () => {
    await load(
      withTools(
        { quiet: 'globalThis.stop(); return "quiet"' },
        { body: `globalThis.stop = ctx.on('tools/pre-execute', () => ({ kind: 'deny', reason: 'x' }));` },
      ),
    );
    expect(await hook({})).toEqual({ kind: 'deny', reason: 'x' });
    await stage.tool('quiet');
    await until(() => stage.handleOf('tools/pre-execute') === 'none');
  });

  test('offers of text, skills and servers go to core as they are', async () => {
    await load(
      withTools(
        {},
        {
          inject: ['prompt', 'skills', 'mcp'],
          body: `ctx.prompt.registerSection({ id: 'rules', text: '{{cwd}}', interpolate: 'model-cwd' });
          ctx.skills.registerRoot({ path: 'profiles/review' });
          ctx.mcp.registerServer({ serverName: 'docs', server: { type: 'stdio', command: 'docs-server' } });`,
        },
      ),
    );
    expect([...stage.live.values()]).toEqual([
      { kind: 'prompt_section', name: 'rules', text: '{{cwd}}', interpolate: 'model-cwd' },
      { kind: 'skill_root', name: 'profiles/review' },
      { kind: 'mcp_server', name: 'docs', server: { type: 'stdio', command: 'docs-server' } },
    ]);
  });

  test.each([
    ['prompt', "ctx.prompt.registerSection({ id: 'Rules', text: '' })", /must be a-z/],
    ['prompt', "ctx.prompt.registerSection({ id: 'rules', text: 'x'.repeat(4097) })", /4097 bytes/],
    ['skills', "ctx.skills.registerRoot({ path: '../skills' })", /relative and normal/],
    ['skills', "ctx.skills.registerRoot({ path: '/skills' })", /relative and normal/],
    ['mcp', "ctx.mcp.registerServer({ serverName: 'x', server: { env: 'x'.repeat(70000) } })", /over the limit of 65536/],
    ['tools', "ctx.tools.register({ name: 'x', description: 'x'.repeat(4097), parameters: {}, execute() {} })", /4097 bytes/],
    [
      'tools',
      "ctx.tools.register({ name: 'x', description: 'x', parameters: { description: 'x'.repeat(65536) }, execute() {} })",
      /over the limit of 65536/,
    ],
    ['tools', "ctx.tools.register({ name: 'x', description: 'x', parameters: {}, execute() {} }, { when: 'always' })", /options/],
  ])('%s refuses %s', async (service, code, told) => {
    const result = await stage.activate('refused', { 'main.mjs': withTools({}, { inject: [service], body: code }) });
    expect(result.entries[0]?.diagnostic).toMatch(told);
  });

  test('a result with an output schema is checked by core, then rendered as text', async () => {
    const output = (render: string) =>
      `ctx.tools.register({ name: 'rendered', description: 'x', parameters: {}, execute: () => ({ count: 2 }), output: { schema: { type: 'object' }, render: ${render} } });`;
    await load(withTools({}, { body: output('(value) => [{ type: "text", text: "n=" + value.count }, { type: "text", text: "end" }]') }));
    expect(await textOf('rendered')).toBe('n=2\nend');
    expect(stage.requests.findLast((each) => each.method === 'schema/check')?.params).toMatchObject({
      schema: { type: 'object' },
      value: { count: 2 },
    });
    answer = (request) => (request.method === 'schema/check' ? Promise.resolve({ issues: ['count must be text'] }) : undefined);
    await expect(stage.tool('rendered')).rejects.toThrow(/does not fit the tool's output schema: count must be text/);
  });

  test.each([
    ['[{ type: "image", data: "x" }]', /cannot have "data"|text alone/],
    ['[{ type: "text", text: "x", annotations: {} }]', /cannot have "annotations"/],
    ['17', /must be an object/],
  ])('a rendering of %s is an error, so that nothing is lost unseen', async (rendered, told) => {
    await load(
      withTools(
        {},
        {
          body: `ctx.tools.register({ name: 'rendered', description: 'x', parameters: {}, execute: () => 1, output: { schema: {}, render: () => ${rendered} } });`,
        },
      ),
    );
    await expect(stage.tool('rendered')).rejects.toThrow(told);
  });

  test('a tool sees its call and nothing that can be changed', async () => {
    await load(
      withTools({ look: 'return JSON.stringify([Object.keys(exec).sort(), Object.isFrozen(exec), exec.agent, exec.args === input])' }),
    );
    expect(JSON.parse(await textOf('look'))).toEqual([['args', 'callId', 'dataDir', 'signal', 'workspace'], true, null, true]);
    const call = {
      method: 'tool/call',
      params: {
        handle: stage.handleOf('look'),
        call_id: 'c',
        input: {},
        workspace: '/w',
        session_id: 's',
        agent_id: 'a',
        origin_turn_id: 't',
        ticket: 'secret-ticket',
      },
      deadlineMs: 5_000,
    } as const;
    const seen = (await stage.host.call(call, never).result).content;
    expect(JSON.parse(seen)).toEqual([
      ['agent', 'agentId', 'args', 'callId', 'core', 'dataDir', 'originTurnId', 'sessionId', 'signal', 'workspace'],
      true,
      { id: 'a', session: { header: { cwd: '/w' } } },
      true,
    ]);
    expect(seen).not.toContain('secret-ticket');
  });

  test('core runs a tool for a call while that lasts, and not for the time after it', async () => {
    answer = (request) =>
      request.method === 'core/call'
        ? Promise.resolve({ content: `ran ${request.params.name} by ${request.params.ticket}`, isError: false, structured: [1] })
        : undefined;
    await load(
      withTools({
        now: 'globalThis.kept = exec.core; const result = await exec.core.call("read_file", { path: "a" }); return JSON.stringify([result, Object.keys(exec.core)])',
        after: 'try { return (await globalThis.kept.call("read_file", {})).content } catch (error) { return error.code }',
        never: 'return String(exec.core)',
      }),
    );
    expect(JSON.parse(await textOf('now', {}, { ticket: 't1' }))).toEqual([
      { content: 'ran read_file by t1', isError: false, structured: [1] },
      ['call'],
    ]);
    expect(await textOf('after', {}, { ticket: 't2' })).toBe('unavailable');
    expect(await textOf('never')).toBe('undefined');
  });

  test('what a call asked of core ends with the call', async () => {
    let withdrawn = 0;
    answer = (request, signal) =>
      request.method !== 'core/call'
        ? undefined
        : new Promise((_, reject) => {
            signal.addEventListener('abort', () => {
              withdrawn += 1;
              reject(new HostRefusal('cancelled', 'withdrawn'));
            });
          });
    await load(
      withTools({
        leaves: 'exec.core.call("shell", {}).catch(() => {}); await new Promise((resolve) => setTimeout(resolve, 50)); return "left"',
        own: 'const stop = AbortSignal.timeout(50); try { await exec.core.call("shell", {}, { signal: stop }) } catch (error) { return error.code }',
      }),
    );
    expect(await textOf('leaves', {}, { ticket: 't' })).toBe('left');
    await until(() => withdrawn === 1);
    expect(await textOf('own', {}, { ticket: 't' })).toBe('cancelled');
    expect(withdrawn).toBe(2);
  });

  test('a plugin has no part in the ticket of another one whose call it is used by', async () => {
    answer = (request) => (request.method === 'service/call' ? Promise.resolve({ content: 'read' }) : undefined);
    await load(withTools({}, { inject: ['files'], body: 'globalThis.readForOthers = () => ctx.files.read({ path: "a" });' }));
    await load(
      withTools({ borrows: 'try { return (await globalThis.readForOthers()).content } catch (error) { return error.data.dsh_refusal }' }),
    );
    expect(await textOf('borrows', {}, { ticket: 't1' })).toBe('ticket_refused');
  });

  test('host services are asked with the ticket of the call, and refuse outside one', async () => {
    answer = (request) => {
      if (request.method !== 'service/call') return undefined;
      if (request.params.service === 'network') return Promise.reject(new HostRefusal('refused', 'not granted', 'not_granted'));
      return Promise.resolve({ seen: request.params });
    };
    await load(
      withTools(
        {
          reads: 'return JSON.stringify((await ctx.files.read({ path: "a" })).seen)',
          fetches:
            'try { await ctx.network.request({ url: "https://example.org" }) } catch (error) { return [error.name, error.code, error.data.dsh_refusal].join() }',
          later:
            'return await new Promise((resolve) => setTimeout(() => ctx.model.complete({ prompt: "x" }).catch((error) => resolve(error.data.dsh_refusal)), 20))',
        },
        { inject: ['tools', 'files', 'network', 'model'] },
      ),
    );
    expect(JSON.parse(await textOf('reads', {}, { ticket: 't1' }))).toMatchObject({
      ticket: 't1',
      service: 'files',
      operation: 'read',
      input: { path: 'a' },
    });
    expect(await textOf('fetches', {}, { ticket: 't1' })).toBe('CoreCallError,refused,not_granted');
    expect(await textOf('later')).toBe('ticket_refused');
  });
});
