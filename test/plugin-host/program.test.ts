import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { RUNTIMES } from '../adapters/extension-host/stage.ts';
import { onStage, PATIENT } from '../e2e/support/stage.ts';
import { FULL_ACCESS, offered, PLUGINS_ON, results, switchOn, withBundle, writeBundle } from './support.ts';

const HELLO = `
import type { PluginContext } from 'odek/plugin';
export const inject = ['tools', 'commands'];
export function apply(ctx: PluginContext): void {
  ctx.tools.register<{ name: string }>({
    name: 'hello_greet',
    description: 'Greets somebody by name.',
    parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
    execute: ({ name }) => \`Hello, \${name}!\`,
  });
  ctx.commands.register({ name: 'hello-greet', description: 'Greet somebody.', handler: ({ args }) => ({ kind: 'success', text: \`Hello, \${args}!\` }) });
}
`;

const VERSION = `export const inject = ['tools'];
export const apply = (ctx) => {
  ctx.tools.register({ name: 'hello_version', description: 'Tells.', parameters: { type: 'object' }, execute: () => process.version });
};`;

/** In the manner of other hosts: a branded id, a hint in `input`, a schema with what renders a result. */
const ELSEWHERE = `
import { CommandDefinitionId } from '@deepseek-ai/dsh-commands/brand';
import Schema from '@deepseek-ai/schemastery';
export const name = 'hello-extension';
export const inject = ['tools', 'commands'];
export const Config = Schema.object({ greeting: Schema.string().default('Hello') });
export function apply(ctx: any, config: { greeting: string }) {
  ctx.tools.register({
    name: 'hello_greet',
    description: 'Greets somebody by name.',
    parameters: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'], additionalProperties: false },
    output: {
      schema: { type: 'object', properties: { greeting: { type: 'string' } }, required: ['greeting'] },
      render: (result: { greeting: string }) => [{ type: 'text', text: result.greeting }],
    },
    deferLoading: true,
    async execute({ name }: { name: string }) { return { greeting: \`\${config.greeting}, \${name}!\` }; },
  });
  ctx.commands.register({
    definitionId: CommandDefinitionId('hello.greet'),
    name: 'hello-greet',
    description: 'Greet someone.',
    input: { hint: '[name]' },
    handler({ args }: { args: string }) {
      if (args === 'nobody') return { kind: 'error', text: 'nobody is not to be greeted' };
      return { kind: 'success', text: \`\${config.greeting}, \${args || 'world'}!\` };
    },
  });
}
`;

const callTool = (name: string, input: object = {}) => [{ calls: [{ name, arguments: input }] }, { text: 'done' }];

describe('a plugin that was reviewed, trusted and switched on', PATIENT, () => {
  it('gives the model its tool, which runs in its own process', async () => {
    await onStage(
      callTool('hello_greet', { name: 'Ada' }),
      async (stage) => {
        await withBundle(stage, 'hello', { files: { 'main.mts': HELLO } });
        const ended = await stage.run(['run', 'greet Ada']);
        expect(ended.code, ended.stderr).toBe(0);
        expect(offered(stage)).toContain('hello_greet');
        expect(results(stage)[0]).toContain('Hello, Ada!');
        expect(results(stage)[0]).toContain('extension:hello/hello_greet');
      },
      { config: FULL_ACCESS },
    );
  });

  it.each(RUNTIMES.map((node, index) => ({ node, name: `runtime ${index + 1}` })))(
    'runs on $name, which the operator named',
    async ({ node }) => {
      await onStage(
        callTool('hello_version'),
        async (stage) => {
          await withBundle(stage, 'hello', { files: { 'main.mjs': VERSION } });
          expect((await stage.run(['run', 'which version?'])).code).toBe(0);
          expect(results(stage)[0]).toContain(execFileSync(node, ['--version'], { encoding: 'utf8' }).trim());
        },
        { config: { ...FULL_ACCESS, extension_host: { enabled: true, node } } },
      );
    },
  );

  it('was written for another host of such plugins, and runs unchanged', async () => {
    const manifest = {
      $schema: 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json',
      name: 'hello-extension',
      version: '1.0.0',
      description: 'Greets people.',
      extensions: { 'net.codewhale': { native: { path: 'hello.mts' } } },
    };
    await onStage(
      callTool('hello_greet', { name: 'Ada' }),
      async (stage) => {
        await withBundle(stage, 'hello-extension', { files: { 'plugin.json': JSON.stringify(manifest), 'hello.mts': ELSEWHERE } });
        const ended = await stage.run(['run', 'greet Ada']);
        expect(results(stage)[0], ended.stderr).toContain('Howdy, Ada!');
        const repl = await stage.run(['repl'], { input: '/hello-greet Ada\n/hello-greet nobody\n/help\n/exit\n' });
        expect(repl.stderr).toContain('[extension:hello-extension] Howdy, Ada!');
        expect(repl.stderr).toContain('nobody is not to be greeted');
        expect(repl.stderr).toMatch(/\/hello-greet\s+\[name\]\s+Greet someone\./);
      },
      { config: { ...FULL_ACCESS, plugins: { 'hello-extension': { config: { greeting: 'Howdy' } } } } },
    );
  });

  it('is not run where nobody can be asked and the operator does not allow everything', async () => {
    await onStage(
      callTool('hello_greet', { name: 'Ada' }),
      async (stage) => {
        await withBundle(stage, 'hello', { files: { 'main.mts': HELLO } });
        await stage.run(['run', 'greet Ada']);
        expect(results(stage)[0]).toContain('denied (non-interactive mode)');
        expect(results(stage)[0]).not.toContain('Hello, Ada!');
      },
      { config: PLUGINS_ON },
    );
  });

  it('answers its slash command in the repl, with its origin', async () => {
    await onStage(
      [],
      async (stage) => {
        await withBundle(stage, 'hello', { files: { 'main.mts': HELLO } });
        const ended = await stage.run(['repl'], { input: '/hello-greet Ada\n/help\n/plugin show hello\n/exit\n' });
        expect(ended.stderr).toContain('[extension:hello] Hello, Ada!');
        expect(ended.stderr).toContain('(extension:hello)');
        expect(ended.stderr).toContain('tools: hello_greet');
        expect(ended.stderr).toContain('running: active');
      },
      { config: PLUGINS_ON },
    );
  });

  it('is nothing more than files before that', async () => {
    await onStage(
      [{ text: 'ok' }, { text: 'ok' }],
      async (stage) => {
        const folder = await writeBundle(stage, 'hello', { files: { 'main.mts': HELLO } });
        await stage.run(['plugin', 'install', folder]);
        await stage.run(['run', 'hi']);
        expect(offered(stage)).not.toContain('hello_greet');
        const review = await stage.run(['plugin', 'review', 'hello']);
        const token = /[0-9a-f]{64}\.[0-9a-f]{64}/.exec(review.stdout)?.[0] ?? '';
        expect((await stage.run(['plugin', 'trust', token])).code).toBe(0);
        await stage.run(['run', 'hi']);
        expect(offered(stage, 1)).not.toContain('hello_greet');
      },
      { config: PLUGINS_ON },
    );
  });

  it('is off after a change of its bytes, also of the same version, until it is reviewed again', async () => {
    await onStage(
      [{ text: 'ok' }, { text: 'ok' }],
      async (stage) => {
        const folder = await withBundle(stage, 'hello', { files: { 'main.mts': HELLO } });
        await writeBundle(stage, 'hello', { files: { 'main.mts': HELLO.replace('Hello, ', 'Good day, ') } });
        expect((await stage.run(['plugin', 'install', '--replace', folder])).code).toBe(0);
        const ended = await stage.run(['run', 'hi']);
        expect(offered(stage)).not.toContain('hello_greet');
        expect(ended.stderr).toContain('hello');
        await switchOn(stage, 'hello');
        await stage.run(['run', 'hi']);
        expect(offered(stage, 1)).toContain('hello_greet');
      },
      { config: PLUGINS_ON },
    );
  });

  it('says what it has to say to the model in a slot of its own, and takes it back when it is off', async () => {
    const section = `export const inject = ['prompt'];
export const apply = (ctx) => { ctx.prompt.registerSection({ id: 'house', text: 'We are in {{cwd}} with {{model}}.', interpolate: 'model-cwd' }); };`;
    await onStage(
      [{ text: 'ok' }, { text: 'ok' }],
      async (stage) => {
        await withBundle(stage, 'house', { files: { 'main.mjs': section } });
        await stage.run(['run', '--session', 'hi']);
        const system = (request: number) =>
          JSON.stringify(stage.server.requests[request]?.body.messages.filter(({ role }: { role: string }) => role === 'system'));
        expect(system(0)).toContain(`[extension:house/house]\\nWe are in ${stage.work} with scripted.`);
        expect((await stage.run(['plugin', 'disable', 'house'])).code).toBe(0);
        await stage.run(['continue', 'again']);
        expect(system(1)).not.toContain('extension:house');
      },
      { config: PLUGINS_ON },
    );
  });
});

describe('a listener before calls', PATIENT, () => {
  const guard = (body: string) => ({
    files: { 'main.mjs': `export const apply = (ctx) => { ctx.on('tools/pre-execute', async (exec, next) => { ${body} }); };` },
  });
  const config = FULL_ACCESS;

  it('denies a call, which is then never run', async () => {
    await onStage(
      callTool('write_file', { path: 'x.txt', content: 'hi' }),
      async (stage) => {
        await withBundle(
          stage,
          'guard',
          guard("if (exec.name === 'write_file') return { kind: 'deny', reason: 'no files today' }; return next();"),
        );
        await stage.run(['run', 'write']);
        expect(results(stage)[0]).toContain('operation denied by extension:guard: no files today');
      },
      { config },
    );
  });

  it('revises a call, which is then run with what it made of it', async () => {
    await onStage(
      callTool('shell', { command: 'echo one' }),
      async (stage) => {
        await withBundle(stage, 'guard', guard("return { kind: 'revise', input: { command: 'echo two' } };"));
        await stage.run(['run', 'say']);
        expect(results(stage)[0]).toContain('two');
        expect(results(stage)[0]).toContain('extension:guard revised the arguments');
      },
      { config },
    );
  });

  it('that throws denies', async () => {
    await onStage(
      callTool('read_file', { path: 'x' }),
      async (stage) => {
        await withBundle(stage, 'guard', guard("throw new Error('broken guard');"));
        await stage.run(['run', 'read']);
        expect(results(stage)[0]).toContain('denied by extension:guard');
        expect(results(stage)[0]).toContain('broken guard');
      },
      { config },
    );
  });
});

describe('listeners before calls that do not answer', PATIENT, () => {
  it('deny after five seconds, all of them together, and other calls go on', async () => {
    const listener = "ctx.on('tools/pre-execute', async ({ name }) => { if (name === 'read_file') await new Promise(() => {}); });";
    const slow = { files: { 'main.mjs': `export const apply = (ctx) => { ${listener} ${listener} };` } };
    const calls = [{ name: 'read_file', arguments: { path: 'note.txt' } }];
    await onStage(
      [{ calls }, { calls: [{ name: 'glob', arguments: { pattern: '*.txt' } }] }, { text: 'done' }],
      async (stage) => {
        await stage.file('note.txt', 'the note\n');
        await withBundle(stage, 'slow', slow);
        const startedAt = performance.now();
        await stage.run(['run', 'read']);
        const took = performance.now() - startedAt;
        expect(results(stage)[0]).toContain('denied by extension:slow: its listener failed: not answered within 5000 ms');
        expect(results(stage)[0]).not.toContain('the note');
        expect(results(stage)[1]).toContain('note.txt');
        expect(took).toBeGreaterThan(4900);
        expect(took).toBeLessThan(60_000);
      },
      { config: FULL_ACCESS },
    );
  });
});

describe('a tool that asks core to run another', PATIENT, () => {
  const asking = (call: string) => ({
    files: {
      'main.mjs': `export const inject = ['tools'];
export const apply = (ctx) => {
  ctx.tools.register({ name: 'ask_core', description: 'Asks core for something.', parameters: { type: 'object' },
    async execute(input, exec) {
      try { return JSON.stringify(await ${call}); } catch (error) { return 'code ' + error.code + ': ' + error.message; }
    } });
};`,
    },
  });
  const outcome = async (call: string, config: object = FULL_ACCESS): Promise<string> => {
    let text = '';
    await onStage(
      callTool('ask_core'),
      async (stage) => {
        await stage.file('note.txt', 'the note\n');
        await withBundle(stage, 'asker', asking(call));
        const ended = await stage.run(['run', 'ask']);
        text = results(stage)[0] ?? ended.stderr;
      },
      { config },
    );
    return text;
  };

  it('gets what a harmless one gives', async () => {
    expect(await outcome("exec.core.call('read_file', { path: 'note.txt' })")).toContain('the note');
  });

  it.each([
    ['a plugin tool, itself included', "exec.core.call('ask_core', {})", /code refused/],
    ['the plan', "exec.core.call('plan', {})", /code refused/],
    ['a shell, where nobody can be asked about this very call', "exec.core.call('shell', { command: 'echo hi' })", /code denied/],
    ['a tool that is not there', "exec.core.call('nothing_here', {})", /not found/],
  ])('does not get %s', async (_what, call, expected) => {
    expect(await outcome(call)).toMatch(expected);
  });
});
