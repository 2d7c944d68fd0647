import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ActivateResult, HostRefusal, type HostRequest } from '../../../ports/extension-host.ts';
import { type Answer, openStage, RUNTIMES, type Stage, until, withTools } from './stage.ts';

const never = new AbortController().signal;

describe.each(RUNTIMES.map((node, index) => ({ node, name: `runtime ${index + 1}` })))('the life of plugins in $name', ({ node }) => {
  let stage: Stage;
  /** Answers of core that a test changes. */
  let answer: Answer;
  beforeAll(async () => {
    stage = await openStage({ node }, (request, signal) => answer(request, signal));
  });
  beforeEach(() => {
    answer = () => undefined;
  });
  afterEach(() => stage.reset());
  afterAll(() => stage.close());

  const diagnostics = ({ entries }: ActivateResult): readonly string[] => entries.map((each) => each.diagnostic);
  const one = async (source: string, config: unknown = {}): Promise<string> =>
    diagnostics(await stage.activate('plugin', { 'main.mjs': source }, { config }))[0] ?? '';
  const names = (): readonly string[] => [...stage.live.values()].map((each) => each.name).sort();

  test('begins with functions, objects, classes and modules alike', async () => {
    const result = await stage.activate('shapes', {
      'function.mjs': `function plugin(ctx) { ctx.tools.register({ name: 'by_function', description: 'x', parameters: { type: 'object' }, execute: () => 'f' }); } plugin.inject = ['tools']; export default plugin;`,
      'object.mjs': `export default { name: 'object', inject: ['tools'], async apply(ctx) { ctx.tools.register({ name: 'by_object', description: 'x', parameters: { type: 'object' }, execute: () => 'o' }); } };`,
      'class.mjs': `export default class Plugin { static inject = ['tools']; constructor(ctx) { ctx.tools.register({ name: 'by_class', description: 'x', parameters: { type: 'object' }, execute: () => 'c' }); } }`,
      'module.mjs': withTools({ by_module: 'return "m"' }),
    });
    expect(diagnostics(result)).toEqual(['', '', '', '']);
    expect(names()).toEqual(['by_class', 'by_function', 'by_module', 'by_object']);
  });

  test.each([
    ['throws at once', 'export function apply() { throw new Error("at once"); }', 'main.mjs: at once'],
    ['throws later', 'export async function apply() { await null; throw new Error("later"); }', 'main.mjs: later'],
    ['throws something else', 'export async function apply() { throw 17; }', 'main.mjs: 17'],
    [
      'injects what is not here',
      'export const inject = ["tools", "browser"]; export function apply() {}',
      'main.mjs: it injects "browser", which is not available here',
    ],
    [
      'injects a service of odek itself',
      'export const inject = ["fs"]; export function apply() {}',
      'main.mjs: it injects "fs", which is not available here',
    ],
    [
      'leaves a plugin waiting',
      'export function apply(ctx) { ctx.plugin({ inject: ["absent"], apply() {} }); }',
      'main.mjs: a plugin in it waits for absent, which is not there',
    ],
    [
      'starts a plugin that fails',
      'export function apply(ctx) { ctx.plugin({ apply() { throw new Error("inner"); } }); }',
      'main.mjs: inner',
    ],
    ['does not settle', 'export const apply = () => new Promise(() => {});', 'main.mjs: it was not active within 5000 ms'],
    [
      'uses a service without injecting it',
      'export function apply(ctx) { ctx.tools.register({}); }',
      'main.mjs: cannot get property "tools" without inject',
    ],
    [
      'registers half a tool',
      withTools({}, { body: 'ctx.tools.register({ name: "half" });' }),
      'main.mjs: the description of tool "half" must be text',
    ],
    [
      'gives a tool a time limit of its own',
      withTools({}, { body: 'ctx.tools.register({ name: "x", description: "x", parameters: {}, execute() {}, timeoutMs: 1 });' }),
      'main.mjs: a tool cannot have "timeoutMs" here',
    ],
    [
      'wants attachments',
      withTools(
        {},
        {
          inject: ['commands'],
          body: 'ctx.commands.register({ name: "x", description: "x", handler() {}, input: { attachments: true } });',
        },
      ),
      'main.mjs: command "x" cannot take attachments here',
    ],
    [
      'listens for what never comes',
      'export function apply(ctx) { ctx.on("agent/created", () => {}); }',
      'main.mjs: the event "agent/created" never comes here; only "tools/pre-execute" does',
    ],
    [
      'wants to be asked first',
      'export function apply(ctx) { ctx.on("tools/pre-execute", () => {}, { prepend: true }); }',
      'main.mjs: a listener of "tools/pre-execute" cannot choose its place',
    ],
    [
      'delegates',
      'export const inject = ["subagents"]; export function apply(ctx) { ctx.subagents.startActivation({}); }',
      'main.mjs: ctx.subagents.startActivation is not available: odek cannot delegate to other agents from a plugin',
    ],
  ])('ends before it began when a plugin %s', async (_, source, diagnostic) => {
    expect(await one(source)).toBe(diagnostic);
    expect(stage.live.size).toBe(0);
  });

  test('begins with a checked configuration and its defaults', async () => {
    const schema = `import Schema from '@deepseek-ai/schemastery'; export const Config = Schema.object({ greeting: Schema.string().default('Hello'), deep: Schema.object({ count: Schema.number() }) });`;
    const source = withTools({ config: 'return JSON.stringify(config)' }, { head: schema });
    expect(await one(source, { deep: { count: 'many' } })).toMatch(/invalid config:[\s\S]*deep\.count/);
    expect(await one(source, { deep: { count: 2 } })).toBe('');
    expect(JSON.parse((await stage.tool('config')).content)).toEqual({ greeting: 'Hello', deep: { count: 2 } });
  });

  test('has core check a configuration that is described by JSON Schema', async () => {
    const source = withTools(
      { config: 'return JSON.stringify(config)' },
      { head: 'export const Config = { type: "object", required: ["a"] };' },
    );
    answer = (request) => (request.method === 'schema/check' ? Promise.resolve({ issues: ['a is required'] }) : undefined);
    expect(await one(source, {})).toBe('main.mjs: its configuration is not valid: a is required');
    expect(stage.requests.find((each) => each.method === 'schema/check')?.params).toMatchObject({
      schema: { type: 'object', required: ['a'] },
      value: {},
    });
  });

  test('goes on for others when a name is taken', async () => {
    answer = (request) =>
      request.method === 'registry/register' && names().includes(request.params.spec.name)
        ? Promise.reject(new HostRefusal('refused', 'somebody has the name'))
        : undefined;
    const first = await stage.activate('first', { 'main.mjs': withTools({ shared: 'return "first"' }) });
    const second = await stage.activate('second', { 'main.mjs': withTools({ own: 'return "own"', shared: 'return "second"' }) });
    expect([first.status, second.status]).toEqual(['ok', 'failed']);
    expect(diagnostics(second)).toEqual(['main.mjs: tool "shared" was refused: somebody has the name']);
    expect(names()).toEqual(['shared']);
    expect((await stage.tool('shared')).content).toBe('first');
  });

  test('takes back a registration that is admitted after its plugin is gone', async () => {
    let admit = (): void => {};
    answer = (request) => {
      if (request.method !== 'registry/register' || request.params.spec.name !== 'late') return undefined;
      return new Promise((resolve) => {
        admit = () => resolve({ handle: 'late-handle' });
      });
    };
    const params = stage.place('zombie', {
      'main.mjs': withTools({
        start: 'ctx.tools.register({ name: "late", description: "x", parameters: {}, execute: () => "zombie" }); return "started"',
      }),
    });
    await stage.host.activate(params, never);
    await stage.tool('start');
    await until(() => stage.requests.some((each) => each.method === 'registry/register' && each.params.spec.name === 'late'));
    const gone = stage.host.deactivate(params.owner);
    await new Promise((resolve) => setTimeout(resolve, 50));
    admit();
    await gone;
    await until(() => stage.requests.some((each) => each.method === 'registry/unregister' && each.params.handle === 'late-handle'));
    const call = { method: 'tool/call', params: { handle: 'late-handle', call_id: 'c', input: {} }, deadlineMs: 5_000 } as const;
    await expect(stage.host.call(call, never).result).rejects.toMatchObject({ code: 'extension_not_available' });
  });

  test('lets nothing register once its plugin is gone', async () => {
    const params = stage.place('gone', {
      'main.mjs': withTools(
        { keep: 'return "kept"' },
        {
          body: 'globalThis.later = () => { try { ctx.tools.register({ name: "later", description: "x", parameters: {}, execute() {} }); return "registered"; } catch (error) { return error.message; } };',
        },
      ),
    });
    await stage.host.activate(params, never);
    await stage.host.deactivate(params.owner);
    await stage.activate('other', { 'main.mjs': withTools({ ask: 'return globalThis.later()' }) });
    expect((await stage.tool('ask')).content).not.toBe('registered');
    expect(names()).toEqual(['ask']);
  });

  test('undoes exactly the registration whose disposer is called', async () => {
    await stage.activate('twice', {
      'main.mjs': withTools(
        {},
        {
          body: `const make = (text) => ctx.tools.register({ name: 'same', description: 'x', parameters: {}, execute: () => text });
          const first = make('first'); first(); first(); await new Promise((resolve) => setTimeout(resolve, 50)); make('second'); await new Promise((resolve) => setTimeout(resolve, 50)); first();`,
        },
      ),
    });
    expect((await stage.tool('same')).content).toBe('second');
    expect(names()).toEqual(['same']);
  });

  test('begins again for what depends on a service when that comes back', async () => {
    const result = await stage.activate('service', {
      'a-provider.mjs': withTools(
        {
          away: 'globalThis.end(); await new Promise((resolve) => setTimeout(resolve, 50)); return "away"',
          back: 'globalThis.begin(); await new Promise((resolve) => setTimeout(resolve, 50)); return "back"',
        },
        { body: 'globalThis.begin = () => { globalThis.end = ctx.provide("clockwork", { tick: () => "tick" }); }; globalThis.begin();' },
      ),
      'b-consumer.mjs': withTools({ tick: 'return ctx.clockwork.tick()' }, { inject: ['tools', 'clockwork'] }),
    });
    expect(diagnostics(result)).toEqual(['', '']);
    expect((await stage.tool('tick')).content).toBe('tick');
    await stage.tool('away');
    await until(() => !names().includes('tick'));
    await stage.tool('back');
    await until(() => names().includes('tick'));
    expect((await stage.tool('tick')).content).toBe('tick');
  });

  test('ends what a plugin left to run later, and says so', async () => {
    const params = stage.place('timers', {
      'main.mjs': withTools(
        { ticks: 'return String(globalThis.ticks)' },
        { body: 'globalThis.ticks = 0; setInterval(() => { globalThis.ticks += 1; }, 5);' },
      ),
    });
    await stage.host.activate(params, never);
    await until(() => stage.live.size === 1);
    expect(await stage.host.deactivate(params.owner)).toEqual({ disposed: true, leaked: ['1 timer'] });
    await stage.activate('watcher', { 'main.mjs': withTools({ count: 'return String(globalThis.ticks)' }) });
    const before = (await stage.tool('count')).content;
    await new Promise((resolve) => setTimeout(resolve, 60));
    expect((await stage.tool('count')).content).toBe(before);
  });

  test.each([
    ['a timer', 'setTimeout(() => { throw new Error("boom"); }, 1)'],
    ['a promise', 'Promise.reject(new Error("boom"))'],
    [
      'an event',
      'import("node:events").then(({ EventEmitter }) => setImmediate(() => new EventEmitter().emit("error", new Error("boom"))))',
    ],
  ])('of one plugin ends by what it throws in %s; others go on', async (_, code) => {
    const params = stage.place('faulty', { 'main.mjs': withTools({ start: `${code}; await new Promise(() => {});` }) });
    await stage.host.activate(params, never);
    await stage.activate('calm', { 'main.mjs': withTools({ calm: 'return "calm"' }) });
    await expect(stage.tool('start')).rejects.toMatchObject({ code: 'extension_not_available' });
    const faults = stage.notices.flatMap((each) => (each.kind === 'faulted' ? [each] : []));
    expect(faults).toEqual([{ kind: 'faulted', message: 'boom', owner: params.owner }]);
    await until(() => !names().includes('start'));
    expect((await stage.tool('calm')).content).toBe('calm');
  });

  test('tells what plugins log, with who it was, and no more of it than can be read', async () => {
    const params = stage.place('chatty', {
      'main.mjs': withTools(
        { flood: 'for (let count = 0; count < 20000; count += 1) console.log("x".repeat(9000)); return "done"' },
        {
          inject: ['tools', 'logger'],
          body: 'ctx.logger.info("one %d", 1); ctx.logger.log("warning", "two"); ctx.logger("named").error("three"); console.warn("four", { a: 1 });',
        },
      ),
    });
    await stage.host.activate(params, never);
    const logs = () => stage.notices.flatMap((each) => (each.kind === 'log' ? [each] : []));
    expect(logs().map(({ level, message }) => `${level} ${message}`)).toEqual([
      'info one 1',
      'warning two',
      'error three',
      'warning four { a: 1 }',
    ]);
    expect(logs().every(({ owner }) => owner?.owner_token === params.owner.owner_token)).toBe(true);
    expect((await stage.tool('flood')).content).toBe('done');
    expect(logs().length).toBeLessThan(2_000);
    expect(logs().every(({ message }) => message.length <= 4_096)).toBe(true);
  });

  test('keeps plugins apart in what they ask: each asks as itself', async () => {
    const asks = withTools({ ask_a: 'return (await exec.core.call("read_file", {})).content' });
    const first = stage.place('one', { 'main.mjs': asks });
    const second = stage.place('two', { 'main.mjs': asks.replace('ask_a', 'ask_b') });
    answer = (request: HostRequest) =>
      request.method === 'core/call' ? Promise.resolve({ content: request.params.owner.plugin_id, isError: false }) : undefined;
    for (const params of [first, second]) await stage.host.activate(params, never);
    const [a, b] = await Promise.all([stage.tool('ask_a', {}, { ticket: 'ta' }), stage.tool('ask_b', {}, { ticket: 'tb' })]);
    expect([a.content, b.content]).toEqual(['one', 'two']);
  });
});
