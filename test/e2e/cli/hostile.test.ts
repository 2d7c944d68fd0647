import { execFileSync } from 'node:child_process';
import { mkdir, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerReply } from '../../fakes/openai-server.ts';
import { until } from '../support/processes.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const OK: ServerReply = { text: 'ok' };

/** An adapter file of a provider; `stream` and `close` are the bodies of its methods. */
function provider(stream: string, close = ''): string {
  return `export default { port: 'llm-provider', name: 'mine', create: () => ({
    name: 'mine', limits: () => ({}), close: async () => { ${close} }, async *stream(request, signal) { ${stream} } }) };`;
}

async function withProvider({ state, configure }: Stage, source: string): Promise<void> {
  await writeFile(join(state, 'mine.mjs'), source);
  await configure({ adapters: ['./mine.mjs'], provider: 'mine', model: 'm' });
}

const REPLY = `yield { type: 'response', finish: 'stop', message: { role: 'assistant', content: 'hi' } };`;
const NEVER = 'await new Promise(() => {});';

describe.concurrent("a provider of the operator's", PATIENT, () => {
  it('that never answers and keeps nothing open ends with Ctrl-C, not by itself', () =>
    onStage([], async (stage) => {
      await withProvider(stage, provider(NEVER));
      const running = stage.start(['run', 'hello', '--json']);
      await running.untilTold('iteration 1');
      running.child.kill('SIGINT');
      const { code, stdout, stderr } = await running.ended;
      expect(code).toBe(130);
      expect(JSON.parse(stdout).outcome).toBe('cancelled');
      expect(stderr).not.toContain('top-level await');
    }));

  it('that cannot be closed does not keep the answer or its exit code back', () =>
    onStage([], async (stage) => {
      await withProvider(stage, provider(REPLY, NEVER));
      const { code, stdout, stderr } = await stage.run(['run', 'hello']);
      expect({ code, stdout }).toEqual({ code: 0, stdout: 'hi\n' });
      expect(stderr).not.toContain('top-level await');
    }));

  it('that throws what is no error, at import or in mid-stream, is a failure with a reason', () =>
    onStage([], async (stage) => {
      await withProvider(stage, provider(`yield { type: 'text_delta', text: 'half' }; throw 'out of order';`));
      const thrown = await stage.run(['run', 'hello', '--json']);
      expect(thrown.code).toBe(1);
      expect(JSON.parse(thrown.stdout).error.message).toContain('out of order');
      await withProvider(stage, 'throw new Error("broken file");');
      const broken = await stage.run(['run', 'hello']);
      expect(broken.code).toBe(3);
      expect(broken.stderr).toContain('broken file');
    }));
});

describe.concurrent('a working directory', PATIENT, () => {
  it('whose AGENTS.md is a pipe, a device, huge or a link that leads out does not stop a run, and nothing of it is sent', () =>
    onStage(
      () => OK,
      async ({ run, work, server }) => {
        const place = async (name: string, make: (path: string) => Promise<void> | void): Promise<void> => {
          const folder = join(work, name);
          await mkdir(folder);
          await make(join(folder, 'AGENTS.md'));
          const { code, stderr } = await run(['run', 'hello'], { cwd: folder });
          expect([name, code]).toEqual([name, 0]);
          expect(stderr).toContain('AGENTS.md is left out');
        };
        await writeFile(join(work, 'private.txt'), 'private words');
        await place('pipe', (path) => void execFileSync('mkfifo', [path]));
        await place('device', (path) => symlink('/dev/zero', path));
        await place('link', (path) => symlink(join(work, 'private.txt'), path));
        await place('huge', async (path) => {
          await writeFile(path, '');
          await truncate(path, 8 * 2 ** 30);
        });
        expect(server.count).toBe(4);
        expect(server.requests.some(({ text }) => text.includes('private words') || text.includes('Notes of this project'))).toBe(false);
      },
    ));

  it('may link its AGENTS.md to another file of its own', () =>
    onStage([OK, OK], async ({ run, file, work, server }) => {
      await file('NOTES.md', 'Be brief.');
      await symlink('NOTES.md', join(work, 'AGENTS.md'));
      await run(['run', 'hello']);
      expect(server.requests[0]?.body.messages[0].content).toContain('Be brief.');
      await run(['run', 'hello', '--no-agents']);
      expect(server.requests[1]?.body.messages[0].content).not.toContain('Be brief.');
    }));

  it('that is gone is told in one line', () =>
    onStage([], async ({ env, work }) => {
      await mkdir(join(work, 'gone'));
      const script = `cd gone && rmdir ../gone && "$0" "$1" run hello 2>&1; echo "exit $?"`;
      const entry = new URL('../../../hosts/entry.ts', import.meta.url).pathname;
      const told = execFileSync('sh', ['-c', script, process.execPath, entry], { cwd: work, env, encoding: 'utf8' });
      expect(told).toBe('odek: the working directory is gone; change to a folder that exists\nexit 3\n');
    }));

  it('that holds the state folder does not open it to tools', () =>
    onStage(
      [
        {
          calls: [
            { name: 'search_files', arguments: { pattern: 'api_key' } },
            { name: 'read_file', arguments: { path: 'mine/config.json' } },
            { name: 'patch', arguments: { path: 'mine/config.json', old_string: 'fixture', new_string: 'evil' } },
          ],
        },
        OK,
      ],
      async ({ run, work, server }) => {
        const state = join(work, 'mine');
        await mkdir(state, { mode: 0o700 });
        const providers = { fixture: { format: 'openai', base_url: server.url, api_key: 'canary-in-the-folder-0123' } };
        const config = JSON.stringify({ provider: 'fixture', model: 'm', providers, dangerous: { action: 'allow' } });
        await writeFile(join(state, 'config.json'), config, { mode: 0o600 });
        expect(await run(['run', 'hello'], { env: { ODEK_HOME: state } })).toMatchObject({ code: 0 });
        const results = server.requests[1]?.body.messages.slice(-3).map((message: { content: string }) => message.content);
        expect(results[0]).toContain('mine/config.json: trust_anchor');
        expect(results[0]).toContain('"matches":[]');
        expect(results[1]).toContain("odek's own state");
        expect(results[2]).toContain("odek's own state");
      },
    ));
});

describe.concurrent('a model', PATIENT, () => {
  it('that asks for 200 calls at once gets a result for each', () =>
    onStage(
      [{ calls: Array.from({ length: 200 }, (_, index) => ({ name: 'glob', arguments: { pattern: `*${index}` } })) }, OK],
      async ({ run, server }) => {
        expect(await run(['run', 'hello'])).toMatchObject({ code: 0 });
        const messages: { role: string; content: string }[] = server.requests[1]?.body.messages;
        expect(messages.filter(({ role }) => role === 'tool').at(-1)?.content).toContain('more than 128 tool calls');
        // Advice that many of them led to is given once.
        const lines = messages.at(-1)?.content.split('\n') ?? [];
        expect(new Set(lines).size).toBe(lines.length);
      },
    ));

  it('that splits characters over deltas and sends halves of them does no harm', () =>
    onStage(
      [
        { text: ['a \ud83d', '\ude00 b \udc00', ' \ud800'], calls: [{ name: 'glob', arguments: '{"pattern":"\\ud83d*"}' }] },
        { text: 'ok \ud83d' },
        { text: 'then' },
      ],
      async ({ run, server }) => {
        expect(await run(['run', '--session', 'hello'])).toMatchObject({ code: 0 });
        expect(await run(['continue', 'more'])).toMatchObject({ code: 0, stdout: 'then\n' });
        expect(server.requests[2]?.text.startsWith(server.requests[1]?.text.slice(0, 500) ?? '-')).toBe(true);
      },
    ));

  it('whose command writes without end is bounded, and the run goes on', () =>
    onStage(
      [{ calls: [{ name: 'shell', arguments: { command: 'head -c 60000000 /dev/zero | tr "\\0" x; echo end' } }] }, OK],
      async ({ run, server }) => {
        expect(await run(['run', 'hello'])).toMatchObject({ code: 0, stdout: 'ok\n' });
        const [before, after] = server.requests.map(({ size }) => size);
        expect((after ?? 0) - (before ?? 0)).toBeLessThan(8_192);
        expect(server.requests[1]?.body.messages.at(-1).content).toContain('bytes omitted');
      },
      { config: { dangerous: { action: 'allow' } } },
    ));
});

describe.concurrent('a state folder', PATIENT, () => {
  it('that can never be made is reported at once', () =>
    onStage([], async ({ run, server }) => {
      const { code, stderr } = await run(['run', 'x', '--base-url', server.url, '--model', 'm'], { env: { ODEK_HOME: '/proc/odek' } });
      expect(code).toBe(3);
      expect(stderr).toContain('/proc/odek');
    }));

  it('that can never be made is reported by odek init, too', () =>
    onStage([], async ({ run }) => {
      const { code, stderr } = await run(['init', '--global'], { env: { ODEK_HOME: '/proc/odek/deep' } });
      expect(code).toBe(3);
      expect(stderr).toContain('/proc/odek');
    }));

  it('is made when it is not there, with everything below it private', () =>
    onStage([OK], async ({ run, work, server }) => {
      const home = join(work, 'a', 'b');
      const { code } = await run(['run', 'x', '--base-url', server.url, '--model', 'm'], { env: { ODEK_HOME: home } });
      expect(code).toBe(0);
      expect(execFileSync('sh', ['-c', 'stat -c %a a a/b a/b/odek.db'], { cwd: work, encoding: 'utf8' })).toBe('700\n700\n600\n');
    }));
});

describe.concurrent('a reader of the answer', PATIENT, () => {
  it('that goes away early is no failure', () =>
    onStage([{ text: 'x'.repeat(500_000) }], async ({ start }) => {
      const running = start(['run', 'hello']);
      running.child.stdout?.once('data', () => running.child.stdout?.destroy());
      expect((await running.ended).code).toBe(0);
    }));

  it('that reads late gets all of it', () =>
    onStage([{ text: 'x'.repeat(3_000_000) }], async ({ start }) => {
      const running = start(['run', 'hello']);
      running.child.stdout?.pause();
      await until('the run is over', () => running.stderr.includes('answer'));
      setTimeout(() => running.child.stdout?.resume(), 3_000);
      const { code, stdout } = await running.ended;
      expect(code).toBe(0);
      expect(stdout).toHaveLength(3_000_001);
    }));
});
