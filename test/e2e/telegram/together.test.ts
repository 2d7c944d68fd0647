import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';
import type { ServerReply, ServerRequest } from '../../fakes/openai-server.ts';
import { call } from '../support/mcp.ts';
import { PATIENT, type Stage } from '../support/stage.ts';
import { ANN, type ChatStage, countOf, onChatStage, press } from './stage.ts';

const PLAN = call('plan', {
  verb: 'create',
  steps: [
    { id: 's1', title: 'Look at the logs' },
    { id: 's2', title: 'Write the report' },
  ],
});
const RUN = call('shell', { command: 'node -e "console.log(6*7)"' });
const NIGHTLY = {
  config: {
    schedules: { approver: 'telegram', telegram_admin_users: [ANN], dangerous: { classes: { code_execution: 'prompt' } } },
  },
  telegram: { default_chat_id: ANN },
};

async function withStore<T>({ state }: Pick<Stage, 'state'>, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore({
    path: `${state}/odek.db`,
    surface: 'test',
    durability: 'process',
    clock: createSystemClock(),
    ids: createRandomIds(),
  });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A job that is due again and again; its newest missed time runs at once. */
async function dueJob(stage: ChatStage): Promise<void> {
  const added = await stage.run([
    'schedule',
    'add',
    '--cron',
    '* * * * *',
    '--name',
    'nightly',
    '--deliver',
    'telegram',
    '--catchup',
    'report',
  ]);
  expect(added.stderr).not.toContain('error');
  expect(added.code).toBe(0);
  await withStore(stage, async ({ schedules }) => {
    const found = await schedules.jobs.get('nightly');
    if (found === undefined) throw new Error('the job is not there');
    // As if it had been made an hour ago.
    await schedules.jobs.remove(found.job.id);
    await schedules.jobs.put(found.job, Date.now() - 3_600_000);
  });
}

/** The job's run plans, asks and reports; everything else is small talk. */
const script = ({ body }: ServerRequest): ServerReply => {
  const messages: { role: string; content: string }[] = body.messages;
  if (messages.findLast(({ role }) => role === 'user')?.content !== 'report') return { text: 'Small talk.' };
  const done = messages.filter(({ role }) => role === 'tool').length;
  if (done === 0) return PLAN;
  if (done === 1) return RUN;
  return { text: `The report: ${/42/.test(messages.at(-1)?.content ?? '') ? 'all is 42' : 'nothing was done'}.` };
};

describe('the daemon and the bot as two processes', PATIENT, () => {
  it('a job starts at night; in the morning its plan is seen, its question answered, its result there once', () =>
    onChatStage(
      script,
      async (stage) => {
        const { telegram, bot, said, start } = stage;
        await dueJob(stage);
        const daemon = start(['schedule', 'daemon']);
        await daemon.untilTold('job nightly begins');
        await bot();
        const card = await said('Approval Required');
        expect(card.text).toContain('Asked by the scheduled job "nightly"');
        telegram.say({ chatId: ANN, text: '/plan_status nightly' });
        const plan = await said('📋 Plan — v1 · 0/2 done');
        expect(plan.text).toContain('🗓 nightly: running');
        expect(plan.text).toContain('⬜ s1 Look at the logs');
        telegram.say({ chatId: ANN, text: '/jobs' });
        await said('nightly: ▶️ running');
        telegram.say({ chatId: ANN, text: 'hello' });
        await said('Small talk.');
        press(telegram, card, 'apr:', ANN);
        const result = await said('The report: all is 42.');
        expect(result.text).toContain('🗓 nightly');
        await telegram.until(() => card.text.includes('✅ Approved'));
        await new Promise((resolve) => setTimeout(resolve, 4_000));
        expect(countOf(telegram, 'The report: all is 42.')).toBe(1);
        const delivered = await withStore(stage, async ({ sessions }) => JSON.stringify((await sessions.read(`tg-${ANN}`)).records));
        expect(delivered).toContain('[scheduled task \\"nightly\\" ran]');
        expect(delivered).toContain('The report: all is 42.');
      },
      NIGHTLY,
    ));

  it('no answer of somebody who is no admin counts, and nobody else sees the plan', () =>
    onChatStage(
      script,
      async (stage) => {
        const { telegram, bot, said, start } = stage;
        await dueJob(stage);
        const daemon = start(['schedule', 'daemon']);
        await daemon.untilTold('job nightly begins');
        await bot();
        const card = await said('Approval Required');
        press(telegram, card, 'apr:', 102);
        await telegram.until(
          () => telegram.callsOf('answerCallbackQuery').some(({ params }) => /not yours/.test(String(params.text))),
          40_000,
        );
        telegram.say({ chatId: 102, text: '/plan_status nightly' });
        await said('⛔ The plan of this job is for admins', 102);
        press(telegram, card, 'den:', ANN);
        await said('The report: nothing was done.');
      },
      { ...NIGHTLY, telegram: { default_chat_id: ANN, allowed_users: [ANN, 102] } },
    ));
});

describe('the bot alone', PATIENT, () => {
  it('runs jobs itself, asks about them, and sends what came of them', () =>
    onChatStage(
      script,
      async (stage) => {
        const { telegram, bot, said } = stage;
        await dueJob(stage);
        await bot();
        press(telegram, await said('Approval Required'), 'apr:', ANN);
        await said('The report: all is 42.');
      },
      NIGHTLY,
    ));
});
