import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { pidIn } from '../support/processes.ts';
import { OPERATOR_KEY, onStage, PATIENT, type Stage } from '../support/stage.ts';

const ENV_KEY = 'canary-71d2b0c95e3a-environment';
const FILE_KEY = 'canary-c8e64412fd07-file-of-secrets';
const GITHUB = `ghp_${'Zy9Xw8Vu7Ts6'.repeat(3)}`;
const ALLOW = { dangerous: { action: 'allow' } };

/** Every byte that odek left below the state folder and the working directory. */
async function everything(folders: readonly string[]): Promise<string> {
  let text = '';
  for (const folder of folders) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      const path = join(entry.parentPath, entry.name);
      if (entry.isFile() && !/config\.json$|secrets\.env$/.test(path)) text += `\n== ${path}\n${(await readFile(path)).toString('latin1')}`;
    }
  }
  return text;
}

async function expectNowhere({ state, work }: Stage, outputs: readonly string[], secrets: readonly string[]): Promise<void> {
  const disk = await everything([state, work]);
  expect(disk).toContain('odek.db');
  for (const secret of secrets) {
    for (const form of [secret, Buffer.from(secret).toString('base64').slice(0, -4)]) {
      for (const output of outputs) expect(output).not.toContain(form);
      expect(disk.includes(form), `${form} on disk`).toBe(false);
    }
  }
}

describe.concurrent('a secret', PATIENT, () => {
  it('of the environment, the configuration or secrets.env shows up nowhere, even when the model and a command write it', () =>
    onStage(
      ({ number }) =>
        number === 1
          ? {
              reasoning: `maybe ${ENV_KEY}`,
              text: `I know ${FILE_KEY} and ${OPERATOR_KEY}`,
              calls: [
                { name: 'shell', arguments: { command: `echo ${FILE_KEY}; echo ${ENV_KEY} | rev | rev; printf ${OPERATOR_KEY} | base64` } },
                { name: 'glob', arguments: { pattern: `*${FILE_KEY}*` } },
                { name: `tool-${ENV_KEY}`, arguments: {} },
              ],
            }
          : { text: ['The keys are ', ENV_KEY.slice(0, 12), ENV_KEY.slice(12), ` and ${FILE_KEY}, also ${GITHUB}`] },
      async (stage) => {
        const { run, state, server } = stage;
        await writeFile(join(state, 'secrets.env'), `SERVICE_TOKEN=${FILE_KEY}\n`, { mode: 0o600 });
        const options = { env: { OPENAI_API_KEY: ENV_KEY } };
        const flags = ['--session', '--events-jsonl', 'events.jsonl', '--events-include-args'];
        const first = await run(['run', `use ${FILE_KEY}`, '--json', ...flags], options);
        expect(first.code).toBe(0);
        const id = JSON.parse(first.stdout).session_id;
        const others = [await run(['session', 'show', id]), await run(['session', 'export', id]), await run(['session', 'list'])];
        const outputs = [first, ...others].flatMap(({ stdout, stderr }) => [stdout, stderr]);
        await expectNowhere(stage, outputs, [ENV_KEY, FILE_KEY, OPERATOR_KEY, GITHUB]);
        const sent = server.requests.map(({ text }) => text).join('\n');
        for (const secret of [ENV_KEY, FILE_KEY, OPERATOR_KEY]) expect(sent).not.toContain(secret);
      },
      { config: ALLOW },
    ));

  it('is not in the environment of a command, and hidden where a command digs it out', () =>
    onStage(
      [{ calls: [{ name: 'shell', arguments: { command: 'env; tr "\\0" "\\n" < /proc/$PPID/environ' } }] }, { text: 'done' }],
      async ({ run, state, server }) => {
        await writeFile(join(state, 'secrets.env'), `SERVICE_TOKEN=${FILE_KEY}\nHARMLESS_NAME=${FILE_KEY}-2\n`, { mode: 0o600 });
        await run(['run', 'look'], { env: { OPENAI_API_KEY: ENV_KEY, MY_TOKEN: 'x', PLAIN: 'seen by odek alone' } });
        const result: string = server.requests[1]?.body.messages.at(-1).content;
        expect(result).toContain('PATH=');
        expect(result).not.toContain('canary');
        const [child = '', parent = ''] = result.split('OPENAI_API_KEY=');
        expect(child).not.toContain('PLAIN=');
        expect(parent).toMatch(/^\[REDACTED\]/);
      },
      { config: { ...ALLOW, sandbox: false } },
    ));

  it('is not in the files of a run that was killed', () =>
    onStage(
      [
        {
          text: `I know ${ENV_KEY}`,
          calls: [{ name: 'shell', arguments: { command: `echo ${FILE_KEY} $$ > /dev/null; echo $$ > child; sleep 60` } }],
        },
      ],
      async (stage) => {
        const { start, state, work } = stage;
        await writeFile(join(state, 'secrets.env'), `SERVICE_TOKEN=${FILE_KEY}\n`, { mode: 0o600 });
        const running = start(['run', `with ${OPERATOR_KEY}`], { env: { OPENAI_API_KEY: ENV_KEY } });
        const child = await pidIn(join(work, 'child'));
        running.child.kill('SIGKILL');
        await running.ended;
        process.kill(-child, 'SIGKILL');
        expect(await readdir(state)).toContain('odek.db-wal');
        await expectNowhere(stage, [running.stdout, running.stderr], [ENV_KEY, FILE_KEY, OPERATOR_KEY]);
      },
      { config: { ...ALLOW, sandbox: false } },
    ));

  it('that a service quotes when it refuses it is not shown', () =>
    onStage([{ status: 401, error: { message: `Incorrect API key provided: ${OPERATOR_KEY}` } }], async (stage) => {
      const { stdout, stderr, code } = await stage.run(['run', 'hello', '--json', '--session']);
      expect(code).toBe(1);
      await expectNowhere(stage, [stdout, stderr], [OPERATOR_KEY]);
    }));

  it('is hidden in odek config, and reaches the service alone', () =>
    onStage([{ text: 'hi' }], async ({ run, server }) => {
      const { stdout, code } = await run(['config', '--json']);
      expect(code).toBe(0);
      expect(stdout).not.toContain(OPERATOR_KEY);
      await run(['run', 'hello']);
      expect(server.requests[0]?.headers.authorization).toBe(`Bearer ${OPERATOR_KEY}`);
    }));

  it('is not shown on a terminal while an answer with it streams', () =>
    onStage(
      [
        {
          text: ['The key is ', OPERATOR_KEY.slice(0, 9), OPERATOR_KEY.slice(9), '.'],
          reasoning: ['I see ', OPERATOR_KEY],
          chunkDelayMs: 120,
        },
      ],
      async ({ terminal }) => {
        const { raw, exit } = await terminal(['run', 'hello'], []);
        expect(exit).toBe(0);
        expect(raw).not.toContain(OPERATOR_KEY.slice(9));
        expect(raw).toContain('[REDACTED]');
      },
    ));
});
