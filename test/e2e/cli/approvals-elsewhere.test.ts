import { readdir, readFile } from 'node:fs/promises';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { PendingApproval } from '../../../ports/approval-store.ts';
import type { OpenAiServer, ServerReply } from '../../fakes/openai-server.ts';
import { ENTRY } from '../support/odek.ts';
import { until } from '../support/processes.ts';
import { OPERATOR_KEY, onStage, PATIENT, type Stage } from '../support/stage.ts';

const shell = (command: string): ServerReply => ({ calls: [{ name: 'shell', arguments: { command } }] });
const DONE: ServerReply = { text: 'It is done.' };
const ELSEWHERE = { config: { dangerous: { approver: 'store' } } };
const ME = `cli:${userInfo().username}`;

function lastResults(server: OpenAiServer): string[] {
  const messages: { role: string; content: string }[] = server.requests.at(-1)?.body.messages ?? [];
  return messages.filter((message) => message.role === 'tool').map((message) => message.content);
}

async function pendingOn({ run }: Pick<Stage, 'run'>): Promise<readonly PendingApproval[]> {
  const { stdout, code, stderr } = await run(['approvals', '--json']);
  expect([code, stderr]).toEqual([0, '']);
  return (JSON.parse(stdout) as { approvals: readonly PendingApproval[] }).approvals;
}

/** The one request that waits, as another process sees it. */
async function asked(stage: Pick<Stage, 'run'>): Promise<PendingApproval> {
  let found: readonly PendingApproval[] = [];
  await until('a request waits', async () => {
    found = await pendingOn(stage);
    return found.length > 0;
  });
  const [first, ...more] = found;
  if (first === undefined || more.length > 0) throw new Error(`one request should wait, not ${found.length}`);
  return first;
}

describe.concurrent('a run without a terminal, with a person elsewhere', PATIENT, () => {
  it('says where to answer, waits, and goes on when another process approves', () =>
    onStage(
      [shell('sh -c "touch it"'), DONE],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        await running.untilTold(`odek approvals show ${request.id}`);
        expect((await stage.run(['approvals'])).stdout).toMatch(
          new RegExp(`^ID .*\\n${request.id}  code_execution  \\d+ s  shell sh -c "touch it"\\n$`),
        );
        const shown = await stage.run(['approvals', 'show', request.id]);
        expect(shown.stdout).toContain('Run:  sh -c "touch it"');
        expect(shown.stdout).toContain(`odek approvals approve ${request.id}`);
        expect(await readdir(stage.work)).toEqual([]);
        const answer = await stage.run(['approvals', 'approve', request.id]);
        expect([answer.code, answer.stdout]).toEqual([0, `approved: ${request.id}\n`]);
        const ended = await running.ended;
        expect([ended.code, ended.stdout]).toEqual([0, 'It is done.\n']);
        expect(await readdir(stage.work)).toEqual(['it']);
        expect((await stage.run(['approvals'])).stdout).toBe('Nothing waits for an answer.\n');
      },
      ELSEWHERE,
    ));

  it('can be asked to by a flag, and tells the model that a user denied', () =>
    onStage([shell('sh -c "touch it"'), DONE], async (stage) => {
      const running = stage.start(['run', '--approver', 'store', 'write']);
      const { request } = await asked(stage);
      expect((await stage.run(['approvals', 'deny', request.id])).code).toBe(0);
      expect((await running.ended).code).toBe(0);
      expect(await readdir(stage.work)).toEqual([]);
      expect(lastResults(stage.server)[0]).toContain('error: operation denied by user: shell sh -c "touch it" (code_execution): ');
    }));

  it('is told when nobody answered in time, and a late answer is refused', () =>
    onStage(
      [shell('sh -c "touch it"'), DONE],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        expect((await running.ended).code).toBe(0);
        expect(lastResults(stage.server)[0]).toContain('error: approval timeout: shell sh -c "touch it" (code_execution): ');
        const late = await stage.run(['approvals', 'approve', request.id]);
        expect(late.code).toBe(1);
        expect(late.stderr).toMatch(/nobody waits for an answer/);
        expect(await readdir(stage.work)).toEqual([]);
      },
      { config: { dangerous: { approver: 'store', approval_timeout_seconds: 8 } } },
    ));

  it('takes the first answer, and the second is told whose it was', () =>
    onStage(
      [shell('sh -c "touch it"'), DONE],
      async (stage) => {
        const running = stage.start(['run', '--session', 'write']);
        const { request } = await asked(stage);
        const answers = await Promise.all(['approve', 'deny', 'approve'].map((word) => stage.run(['approvals', word, request.id])));
        const late = answers.filter(({ code }) => code !== 0);
        expect(late.map(({ code }) => code)).toEqual([1, 1]);
        const first = answers[1]?.code === 0 ? 'deny' : 'approve';
        for (const { stderr } of late) expect(stderr).toContain(`answered already: "${first}" by ${ME}`);
        await running.ended;
        expect(await readdir(stage.work)).toEqual(first === 'approve' ? ['it'] : []);
        const exported = await stage.run(['session', 'export', /session (\S+)/.exec(running.stderr)?.[1] ?? '']);
        expect(exported.code).toBe(0);
      },
      ELSEWHERE,
    ));

  it('that is killed takes its request with it', () =>
    onStage(
      [shell('sh -c "touch it"')],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        running.child.kill('SIGKILL');
        await running.ended;
        expect(await pendingOn(stage)).toEqual([]);
        const late = await stage.run(['approvals', 'approve', request.id]);
        expect([late.code, late.stderr]).toEqual([1, 'odek: the request comes from a run that is gone: nobody waits for an answer\n']);
      },
      ELSEWHERE,
    ));

  it('that is killed while a card of several calls is open asks again when it is continued', () => {
    const both = { calls: ['sh -c "touch one"', 'sh -c "touch two"'].map((command) => ({ name: 'shell', arguments: { command } })) };
    return onStage(
      [both, both, DONE],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request: lost } = await asked(stage);
        await running.untilTold(/session \S+/);
        running.child.kill('SIGKILL');
        await running.ended;
        const again = stage.start(['continue', '--id', /session (\S+)/.exec(running.stderr)?.[1] ?? '']);
        const { request } = await asked(stage);
        expect(request.id).not.toBe(lost.id);
        expect(request.items.map(({ resource }) => resource)).toEqual(lost.items.map(({ resource }) => resource));
        expect((await stage.run(['approvals', 'approve', lost.id])).code).toBe(1);
        expect(await readdir(stage.work)).toEqual([]);
        await stage.run(['approvals', 'approve', request.id]);
        expect((await again.ended).code).toBe(0);
        expect((await readdir(stage.work)).sort()).toEqual(['one', 'two']);
      },
      ELSEWHERE,
    );
  });

  it('that is interrupted withdraws its request and ends', () =>
    onStage(
      [shell('sh -c "touch it"')],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        running.child.kill('SIGINT');
        expect((await running.ended).code).toBe(130);
        expect(await pendingOn(stage)).toEqual([]);
        expect((await stage.run(['approvals', 'approve', request.id])).stderr).toContain('was withdrawn');
        expect(await readdir(stage.work)).toEqual([]);
      },
      ELSEWHERE,
    ));

  it('asks once about a class that is trusted', () =>
    onStage(
      [shell('sh -c "touch one"'), shell('sh -c "touch two"'), DONE],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        expect((await stage.run(['approvals', 'trust', request.id])).stdout).toBe(`trusted for the session: ${request.id}\n`);
        expect((await running.ended).code).toBe(0);
        expect((await readdir(stage.work)).sort()).toEqual(['one', 'two']);
      },
      ELSEWHERE,
    ));

  it('asks about the calls of a response with one card, which nobody can trust', () =>
    onStage(
      [{ calls: ['sh -c "touch one"', 'sh -c "touch two"'].map((command) => ({ name: 'shell', arguments: { command } })) }, DONE],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        const shown = await stage.run(['approvals', 'show', request.id]);
        expect(shown.stdout).toContain(
          '⚠️ 2 tool actions require approval:\n  1. `shell` — `sh -c "touch one"`\n  2. `shell` — `sh -c "touch two"`\n',
        );
        const trust = await stage.run(['approvals', 'trust', request.id]);
        expect([trust.code, trust.stderr]).toEqual([1, 'odek: trust is not offered for this request: approve or deny it\n']);
        await stage.run(['approvals', 'approve', request.id]);
        expect((await running.ended).code).toBe(0);
        expect((await readdir(stage.work)).sort()).toEqual(['one', 'two']);
      },
      ELSEWHERE,
    ));

  it('takes no yes from what a tool call of another run started', () =>
    onStage(
      [shell('sh -c "touch it"'), shell('sh answer.sh'), { text: 'I tried.' }, DONE],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        const odek = `ODEK_HOME='${stage.state}' '${process.execPath}' '${ENTRY}' approvals`;
        await stage.file('answer.sh', ['approve', 'trust'].map((word) => `${odek} ${word} ${request.id} 2>&1`).join('\n'));
        const inside = await stage.run(['run', 'answer it']);
        expect([inside.code, inside.stdout]).toEqual([0, 'I tried.\n']);
        expect(lastResults(stage.server)[0]?.match(/this was started by a tool call of odek; a person has to answer/g)).toHaveLength(2);
        expect(await pendingOn(stage)).toHaveLength(1);
        await stage.run(['approvals', 'deny', request.id], { env: { ODEK_JOB: 'x' } });
        await running.ended;
        expect((await readdir(stage.work)).sort()).toEqual(['answer.sh']);
      },
      { config: { sandbox: false, dangerous: { approver: 'store', allowlist: ['sh answer.sh'] } } },
    ));

  it('is told on a terminal too, which shows no card then', () =>
    onStage(
      [shell('sh -c "touch it"'), DONE],
      async (stage) => {
        const seen = stage.terminal(['run', 'write'], [{ wait: 'odek approvals show' }]);
        const { request } = await asked(stage);
        await stage.run(['approvals', 'approve', request.id]);
        const { exit, raw } = await seen;
        expect(exit).toBe(0);
        expect(raw).toContain(`odek approvals show ${request.id}`);
        expect(raw).not.toContain('[d]eny');
        expect(await readdir(stage.work)).toEqual(['it']);
      },
      ELSEWHERE,
    ));

  it('stores no secret with its request', () =>
    onStage(
      [shell(`sh -c "echo ${OPERATOR_KEY}"`), DONE],
      async (stage) => {
        const running = stage.start(['run', 'write']);
        const { request } = await asked(stage);
        expect(request.items[0].resource).toBe('sh -c "echo [REDACTED]"');
        for (const file of (await readdir(stage.state)).filter((name) => name.startsWith('odek.db'))) {
          expect((await readFile(join(stage.state, file))).includes(OPERATOR_KEY), file).toBe(false);
        }
        await stage.run(['approvals', 'deny', request.id]);
        await running.ended;
        expect(running.stderr).not.toContain(OPERATOR_KEY);
      },
      ELSEWHERE,
    ));
});

describe.concurrent('odek approvals', PATIENT, () => {
  it.each([
    [['approvals', 'approve'], 3, 'approvals approve needs an id'],
    [['approvals', 'list', 'x'], 3, 'approvals list takes no id'],
    [['approvals', 'approve', 'nothing'], 1, 'there is no request "nothing"'],
    [['approvals', 'show', 'nothing'], 1, 'no request "nothing" waits for an answer'],
    [['approvals', 'approve', 'x', '--json'], 3, '--json goes with list and show only'],
    [['approvals', 'maybe', 'x'], 3, 'maybe'],
  ])('%j ends with %i and says why', (args, code, text) =>
    onStage([], async ({ run }) => {
      const ended = await run(args);
      expect(ended.code).toBe(code);
      expect(ended.stderr).toContain(text);
    }),
  );
});
