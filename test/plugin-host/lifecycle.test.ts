import { mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { onStage, PATIENT } from '../e2e/support/stage.ts';
import { FULL_ACCESS, offered, PLUGINS_ON, results, switchOn, withBundle } from './support.ts';

const tool = (name: string, body: string) =>
  `export const inject = ['tools'];
export const apply = (ctx) => ctx.tools.register({ name: '${name}', description: 'A tool of a test.', parameters: { type: 'object' }, async execute(input, exec) { ${body} } });`;

/** Processes of this machine whose command line names a folder. */
function processesOf(folder: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder);
      } catch {
        return false;
      }
    })
    .map(Number)
    .filter((pid) => pid !== process.pid);
}

describe('odek without plugins', PATIENT, () => {
  it('loads nothing of the plugin host', async () => {
    await onStage([{ text: 'ok' }], async (stage) => {
      const list = join(stage.work, 'loaded.txt');
      const hook = new URL('../e2e/support/loaded-modules.mjs', import.meta.url).href;
      const ended = await stage.run(['run', 'go'], { source: true, env: { NODE_OPTIONS: `--import=${hook}`, LOADED_MODULES: list } });
      expect(ended.code, ended.stderr).toBe(0);
      const loaded = readFileSync(list, 'utf8').split('\n');
      expect(loaded.some((url) => url.endsWith('hosts/plugin-host/connect.ts'))).toBe(true);
      expect(loaded.filter((url) => /plugin-host\/(?!connect|board)|extension-host|extension-child/.test(url))).toEqual([]);
    });
  });
});

describe('odek with plugins', PATIENT, () => {
  it('that is killed leaves no process of a plugin', async () => {
    await onStage(
      [{ calls: [{ name: 'slow_tool', arguments: {} }] }, { text: 'ok' }],
      async (stage) => {
        await withBundle(stage, 'slow', {
          files: { 'main.mjs': tool('slow_tool', "await new Promise((resolve) => setTimeout(resolve, 60000)); return 'late';") },
        });
        const running = stage.start(['run', 'wait']);
        const end = Date.now() + 20_000;
        while (stage.server.count < 1 && Date.now() < end) await delay(20);
        await delay(700);
        expect(processesOf(stage.state).length).toBeGreaterThan(0);
        running.child.kill('SIGKILL');
        await running.ended;
        while (processesOf(stage.state).length > 0 && Date.now() < end) await delay(20);
        expect(processesOf(stage.state)).toEqual([]);
      },
      { config: FULL_ACCESS },
    );
  });

  it('starts although two of them want the same name: the second is told, and off', async () => {
    await onStage(
      [{ calls: [{ name: 'same_tool', arguments: {} }] }, { text: 'ok' }],
      async (stage) => {
        await withBundle(stage, 'first', { files: { 'main.mjs': tool('same_tool', "return 'of the first';") } });
        await withBundle(stage, 'second', { files: { 'main.mjs': tool('same_tool', "return 'of the second';") } });
        const ended = await stage.run(['run', 'go']);
        expect(ended.code, ended.stderr).toBe(0);
        expect(results(stage)[0]).toContain('of the first');
        expect(ended.stderr).toContain('extension:second');
        expect(ended.stderr).toContain('registered already');
      },
      { config: FULL_ACCESS },
    );
  });

  it('gives each of them its configuration, and one whose configuration is wrong is off', async () => {
    const files = {
      'main.mjs': `import Schema from '@deepseek-ai/schemastery';
export const inject = ['tools'];
export const Config = Schema.object({ greeting: Schema.string().default('Hello') });
export const apply = (ctx, config) => ctx.tools.register({ name: 'say_it', description: 'Says it.', parameters: { type: 'object' }, execute: () => config.greeting });`,
    };
    await onStage(
      [{ calls: [{ name: 'say_it', arguments: {} }] }, { text: 'ok' }, { text: 'ok' }],
      async (stage) => {
        await withBundle(stage, 'sayer', { files });
        await stage.run(['run', 'go']);
        expect(results(stage)[0]).toContain('Howdy');
        const providers = { fixture: { format: 'openai', base_url: stage.server.url, api_key: 'x' } };
        await stage.configure({
          provider: 'fixture',
          model: 'scripted',
          providers,
          ...FULL_ACCESS,
          plugins: { sayer: { config: { greeting: 7 } } },
        });
        const ended = await stage.run(['run', 'go']);
        expect(offered(stage, 2)).not.toContain('say_it');
        expect(ended.stderr).toContain('extension:sayer');
      },
      { config: { ...FULL_ACCESS, plugins: { sayer: { config: { greeting: 'Howdy' } } } } },
    );
  });

  it('connects the MCP server of one, which needs no code and no process for it', async () => {
    const server = fileURLToPath(new URL('../e2e/support/mcp-server.mjs', import.meta.url));
    await onStage([{ text: 'ok' }, { text: 'ok' }], async (stage) => {
      const tools = await stage.file(
        'tools.json',
        JSON.stringify([{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }]),
      );
      const schema = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json';
      const fixture = { type: 'stdio', command: 'node', args: [server, tools, `${tools}.pids`] };
      await withBundle(stage, 'served', { files: { 'mcp.json': JSON.stringify({ $schema: schema, mcpServers: { fixture } }) } });
      const ended = await stage.run(['run', 'go'], { env: { ODEK_APPROVE_MCP: '1' } });
      expect(ended.code, ended.stderr).toBe(0);
      expect(offered(stage), ended.stderr).toContain('served_fixture__look');
      await stage.run(['plugin', 'disable', 'served']);
      await stage.run(['run', 'go'], { env: { ODEK_APPROVE_MCP: '1' } });
      expect(offered(stage, 1)).not.toContain('served_fixture__look');
    });
  });

  it('tells in odek doctor where their code runs, and that it does not while the operator has not said so', async () => {
    await onStage(
      [],
      async (stage) => {
        await withBundle(stage, 'hello', { files: { 'main.mjs': tool('hello_tool', "return 'hi';") } });
        expect((await stage.run(['doctor'])).stdout).toMatch(/plugin host: node \d+.* in bwrap, memory/);
        const providers = { fixture: { format: 'openai', base_url: stage.server.url, api_key: 'x' } };
        await stage.configure({ provider: 'fixture', model: 'scripted', providers });
        expect((await stage.run(['doctor'])).stdout).toContain('extension_host.enabled is false');
      },
      { config: PLUGINS_ON },
    );
  });

  it('without bubblewrap runs no code of theirs, says why and how to mend it, and goes on', async () => {
    await onStage(
      [{ text: 'ok' }],
      async (stage) => {
        await withBundle(stage, 'hello', { files: { 'main.mjs': tool('hello_tool', "return 'hi';") } });
        const ended = await stage.run(['run', 'go'], { env: { PATH: '/nowhere' } });
        expect(ended.code, ended.stderr).toBe(0);
        expect(offered(stage)).not.toContain('hello_tool');
        expect(ended.stderr).toContain('bwrap is not installed');
      },
      { config: PLUGINS_ON },
    );
  });

  it('without bubblewrap still connects the MCP server of one whose code is refused', async () => {
    const server = fileURLToPath(new URL('../e2e/support/mcp-server.mjs', import.meta.url));
    const schema = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json';
    await onStage(
      [{ text: 'ok' }],
      async (stage) => {
        const tools = await stage.file(
          'tools.json',
          JSON.stringify([{ name: 'look', description: 'Looks.', inputSchema: { type: 'object' } }]),
        );
        const fixture = { type: 'stdio', command: 'node', args: [server, tools, `${tools}.pids`] };
        const mcp = JSON.stringify({ $schema: schema, mcpServers: { fixture } });
        await withBundle(stage, 'mixed', { files: { 'main.mjs': tool('mixed_tool', "return 'hi';"), 'mcp.json': mcp } });
        const path = join(stage.home, 'only-node');
        mkdirSync(path);
        symlinkSync(process.execPath, join(path, 'node'));
        const ended = await stage.run(['run', 'go'], { env: { PATH: path, ODEK_APPROVE_MCP: '1' } });
        expect(ended.stderr).toContain('bwrap is not installed; install bubblewrap');
        expect(offered(stage), ended.stderr).toContain('mixed_fixture__look');
        expect(offered(stage)).not.toContain('mixed_tool');
      },
      { config: PLUGINS_ON },
    );
  });

  it('runs the four examples of its documentation', async () => {
    await onStage(
      [{ text: 'ok' }],
      async (stage) => {
        const folder = fileURLToPath(new URL('../../docs/examples/plugins', import.meta.url));
        const names = readdirSync(folder);
        expect(names).toHaveLength(4);
        for (const name of names) {
          const installed = await stage.run(['plugin', 'install', `${folder}/${name}`]);
          expect(installed.code, installed.stderr + installed.stdout).toBe(0);
          await switchOn(stage, name);
        }
        const ended = await stage.run(['run', 'go'], { env: { ODEK_APPROVE_MCP: '1' } });
        expect(ended.code, ended.stderr).toBe(0);
        expect(ended.stderr).not.toMatch(/was not activated|is left out|did not start/);
        const own = offered(stage).filter((each) => names.some((name) => each.startsWith(name.split('-')[0] as string)));
        expect(own.length, offered(stage).join()).toBeGreaterThan(0);
      },
      { config: PLUGINS_ON },
    );
  });
});
