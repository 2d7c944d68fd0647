import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pidIn, until } from '../support/processes.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

/** The ids of processes mean something to the tests only where commands have the machine's. */
const ALLOW = { config: { dangerous: { action: 'allow' }, sandbox: false } };
const ID = /session (\d{8}-[0-9a-f]{32})/;

async function listed({ run }: Pick<Stage, 'run'>): Promise<string[]> {
  const { stdout } = await run(['session', 'list', '--json']);
  return JSON.parse(stdout).sessions.map((session: { id: string }) => session.id);
}

const contents = (messages: readonly { content: string }[]): string[] => messages.slice(1).map((message) => message.content);

describe.concurrent('an address that odek does not know', PATIENT, () => {
  it.each([
    [['session', 'list'], 0],
    [['usage'], 0],
    [['plan'], 0],
    [['config'], 1],
  ])('is told of where it matters: %j', (args, warnings) =>
    onStage(
      [],
      async ({ run, server }) => {
        const env = { ODEK_BASE_URL: server.url, ODEK_MODEL: 'm' };
        const { stderr } = await run(args, { env });
        expect(stderr.split('is no host that odek knows')).toHaveLength(warnings + 1);
      },
      { configured: false },
    ),
  );
});

describe.concurrent('a run without --session', PATIENT, () => {
  it('leaves no session behind after an answer', () =>
    onStage([{ text: 'done' }], async (stage) => {
      const { stderr } = await stage.run(['run', 'hello']);
      const id = ID.exec(stderr)?.[1] ?? '';
      expect((await stage.run(['continue', '--id', id, 'more'])).code).toBe(3);
      expect((await stage.run(['session', 'show', id])).code).toBe(1);
      expect(await listed(stage)).toEqual([]);
    }));

  it('is kept after SIGKILL, is not listed, and goes on with or without a new task', () =>
    onStage(
      ({ number, body }) => {
        if (number === 1) return { calls: [{ name: 'shell', arguments: { command: 'echo $$ > child; sleep 60' } }] };
        return { text: `answer to ${body.messages.at(-1).role}` };
      },
      async (stage) => {
        const { start, run, work, server } = stage;
        const running = start(['run', 'the first task']);
        const child = await pidIn(join(work, 'child'));
        running.child.kill('SIGKILL');
        await running.ended;
        process.kill(-child, 'SIGKILL');
        const id = ID.exec(running.stderr)?.[1] ?? '';
        expect(await listed(stage)).toEqual([]);
        expect(await run(['continue', '--id', id])).toMatchObject({ code: 0, stdout: 'answer to tool\n' });
        const [task, , result] = server.requests[1]?.body.messages.slice(1) ?? [];
        expect(task.content).toBe('the first task');
        expect(result.content).toContain('outcome unknown');
        expect(await listed(stage)).toEqual([id]);
        expect(await run(['continue', '--id', id, 'and more'])).toMatchObject({ code: 0, stdout: 'answer to user\n' });
        const nothing = await run(['continue', '--id', id]);
        expect(nothing.code).toBe(3);
        expect(nothing.stderr).toContain('give a task');
      },
      ALLOW,
    ));
});

describe.concurrent('odek continue', PATIENT, () => {
  it('goes on with the session that changed last, and with another by its id', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}` }),
      async ({ run, server }) => {
        const first = JSON.parse((await run(['run', '--session', 'one', '--json'])).stdout).session_id;
        await run(['run', '--session', 'two']);
        await run(['continue', 'three']);
        expect(contents(server.requests[2]?.body.messages)).toEqual(['two', 'answer 2', 'three']);
        await run(['continue', '--id', first, 'four']);
        expect(contents(server.requests[3]?.body.messages)).toEqual(['one', 'answer 1', 'four']);
        await run(['continue', 'five']);
        expect(contents(server.requests[4]?.body.messages)).toEqual(['one', 'answer 1', 'four', 'answer 4', 'five']);
      },
    ));

  it('restores provider and model, unless flags name others', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}` }),
      async ({ run, server, configure }) => {
        await run(['run', '--session', '--model', 'first-model', 'one']);
        const base = { format: 'openai', base_url: server.url, api_key: 'k' };
        await configure({
          provider: 'other',
          model: 'other-model',
          providers: { fixture: base, other: { ...base, base_url: 'http://127.0.0.1:9/v1' } },
        });
        expect(await run(['continue', 'two'])).toMatchObject({ code: 0 });
        expect(server.requests[1]?.body.model).toBe('first-model');
        expect(await run(['continue', '--model', 'third-model', 'three'])).toMatchObject({ code: 0 });
        expect(server.requests[2]?.body.model).toBe('third-model');
      },
    ));

  it('goes on with a session that a bare --base-url began, when it is given again', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}` }),
      async ({ run, server }) => {
        const flags = ['--base-url', server.url, '--model', 'bare'];
        await run(['run', '--session', 'one', ...flags]);
        expect(await run(['continue', 'two', ...flags])).toMatchObject({ code: 0, stdout: 'answer 2\n' });
        const without = await run(['continue', 'three']);
        expect(without.code).toBe(3);
        expect(without.stderr).toContain('--base-url');
      },
      { configured: false },
    ));

  it('names the process that has the session, and exits 3', () =>
    onStage(
      ({ number }) => (number === 1 ? { text: 'one' } : number === 2 ? { hang: true } : { text: 'never' }),
      async ({ run, start, server }) => {
        await run(['run', '--session', 'one']);
        const holder = start(['continue', 'two']);
        await until('the first has begun', () => server.count === 2);
        const { code, stdout, stderr } = await run(['continue', 'three']);
        expect(code).toBe(3);
        expect(stdout).toBe('');
        expect(stderr).toContain(`in use by process ${holder.child.pid} (odek continue`);
        expect(server.count).toBe(2);
      },
    ));

  it('waits for a session that is given up soon', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}`, ...(number === 2 && { delayMs: 800 }) }),
      async ({ run, start, server }) => {
        await run(['run', '--session', 'one']);
        const holder = start(['continue', 'two']);
        await until('the first has begun', () => server.count === 2);
        expect(await run(['continue', 'three'])).toMatchObject({ code: 0, stdout: 'answer 3\n' });
        expect((await holder.ended).code).toBe(0);
        expect(contents(server.requests[2]?.body.messages)).toEqual(['one', 'answer 1', 'two', 'answer 2', 'three']);
      },
    ));

  it('works where it is called, and tells the person and the model when that is elsewhere', () =>
    onStage(
      ({ number }) => ({ text: `answer ${number}` }),
      async ({ run, server, work }) => {
        await run(['run', '--session', 'one']);
        await mkdir(join(work, 'other'));
        const moved = await run(['continue', 'two'], { cwd: join(work, 'other') });
        expect(moved.stderr).toContain(`the session began in ${work}; it goes on in ${join(work, 'other')}`);
        await run(['continue', 'three'], { cwd: join(work, 'other') });
        await run(['continue', 'four']);
        expect(contents(server.requests[3]?.body.messages)).toEqual([
          'one',
          'answer 1',
          `The working directory is now: ${join(work, 'other')}`,
          'two',
          'answer 2',
          'three',
          'answer 3',
          `The working directory is now: ${work}`,
          'four',
        ]);
      },
    ));

  it('exits 3 without any session', () =>
    onStage([], async ({ run }) => {
      const { code, stderr } = await run(['continue', 'hello']);
      expect(code).toBe(3);
      expect(stderr).toContain('no session');
    }));
});

describe.concurrent('odek session', PATIENT, () => {
  it('lists, shows, exports, trims, deletes and cleans up, and a trimmed session goes on', () =>
    onStage(
      ({ number }) =>
        number === 1
          ? { calls: [1, 2, 3].map((place) => ({ name: 'glob', arguments: { pattern: `*${place}` } })) }
          : { text: `answer ${number}` },
      async (stage) => {
        const { run, server } = stage;
        const id = JSON.parse((await run(['run', '--session', '--json', 'look around'])).stdout).session_id;
        for (const task of ['two', 'three']) await run(['continue', task]);
        expect((await run(['session', 'list'])).stdout).toMatch(new RegExp(`${id} +3 +scripted +look around`));
        const shown = (await run(['session', 'show', id])).stdout;
        expect(shown.match(/── \[.*?\] ──/g)?.slice(1)).toEqual([
          '── [USER Turn 1] ──',
          ...Array(3).fill('── [TOOL CALL: glob] ──'),
          ...Array(3).fill('── [TOOL RESULT: glob] ──'),
          '── [ASSISTANT] ──',
          '── [USER Turn 2] ──',
          '── [ASSISTANT] ──',
          '── [USER Turn 3] ──',
          '── [ASSISTANT] ──',
        ]);
        const exported = JSON.parse((await run(['session', 'export', id])).stdout);
        expect(exported.messages).toHaveLength(11);
        const trimmed = await run(['session', 'trim', id, '8']);
        expect(trimmed.stdout).toBe(`Trimmed session ${id}: 11 → 6 messages (5 dropped)\n`);
        await run(['continue', 'four']);
        expect(contents(server.requests.at(-1)?.body.messages)).toEqual(['answer 2', 'two', 'answer 3', 'three', 'answer 4', 'four']);
        expect((await run(['session', 'delete', id])).stdout).toBe(`Deleted session ${id}.\n`);
        expect(await listed(stage)).toEqual([]);
        await run(['run', '--session', 'again']);
        expect((await run(['session', 'cleanup', '30'])).stdout).toBe('Cleaned up 0 session(s) older than 30 days.\n');
        expect((await run(['session', 'cleanup', '0'])).stdout).toBe('Cleaned up 1 session(s) older than 0 days.\n');
      },
    ));

  it('refuses to delete or trim a session that is in use', () =>
    onStage([{ hang: true }], async ({ run, start, server }) => {
      const holder = start(['run', '--session', 'one']);
      await until('it runs', () => server.count === 1);
      const id = ID.exec(holder.stderr)?.[1] ?? '';
      for (const args of [
        ['delete', id],
        ['trim', id, '2'],
      ]) {
        const { code, stderr } = await run(['session', ...args]);
        expect(code).toBe(3);
        expect(stderr).toContain(`process ${holder.child.pid}`);
      }
    }));
});

describe.concurrent('a state folder that cannot be used', PATIENT, () => {
  it('is reported when the database is corrupt, and nothing is destroyed', () =>
    onStage([{ text: 'one' }], async ({ run, state, server }) => {
      await run(['run', '--session', 'one']);
      const database = join(state, 'odek.db');
      const bytes = await readFile(database);
      bytes.fill('garbage ', 0, Math.min(bytes.length, 8192));
      for (const name of await readdir(state)) if (/^odek\.db-/.test(name)) await writeFile(join(state, name), '');
      await writeFile(database, bytes);
      for (const args of [
        ['run', 'two'],
        ['continue', 'two'],
        ['session', 'list'],
      ]) {
        const { code, stdout, stderr } = await run(args);
        expect([args[0], code, stdout]).toEqual([args[0], 3, '']);
        expect(stderr).toContain(database);
        expect(stderr).not.toContain('unexpected error');
      }
      expect(await readFile(database)).toEqual(bytes);
      expect(server.count).toBe(1);
    }));

  it('is reported when it is a file', () =>
    onStage(
      [],
      async ({ run, work }) => {
        await writeFile(join(work, 'state'), 'a file');
        const { code, stderr } = await run(['run', 'two', '--base-url', 'http://127.0.0.1:9/v1', '--model', 'm'], {
          env: { ODEK_HOME: join(work, 'state') },
        });
        expect(code).toBe(3);
        expect(stderr).toContain(`${join(work, 'state')} cannot be the state folder`);
        expect(await readFile(join(work, 'state'), 'utf8')).toBe('a file');
      },
      { configured: false },
    ));

  it('is reported when nobody may write there', () =>
    onStage([], async ({ run, server }) => {
      // Not even the superuser makes a folder there.
      const { code, stderr } = await run(['run', 'two', '--base-url', server.url, '--model', 'm'], { env: { ODEK_HOME: '/sys/odek' } });
      expect(code).toBe(3);
      expect(stderr).toMatch(/\/sys\/odek\/odek\.db: (the file system is read-only|this user may not write there); nothing was changed/);
    }));

  it('holds a database and a folder that nobody else can read', () =>
    onStage([{ text: 'one' }], async ({ run, state }) => {
      await run(['run', '--session', 'one']);
      expect((await stat(join(state, 'odek.db'))).mode & 0o777).toBe(0o600);
      expect((await stat(state)).mode & 0o777).toBe(0o700);
    }));
});
