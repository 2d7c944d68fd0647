import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';
import type { ServerReply, ServerRequest } from '../../fakes/openai-server.ts';
import { call } from '../support/mcp.ts';
import { PATIENT, type Stage } from '../support/stage.ts';
import { ANN, type ChatStage, countOf, onChatStage, press } from './stage.ts';

const RUN = call('shell', { command: 'node -e "console.log(6*7)"' });
const ASKING = {
  config: {
    schedules: { approver: 'telegram', telegram_admin_users: [ANN], dangerous: { classes: { code_execution: 'prompt' } } },
  },
  telegram: { default_chat_id: ANN },
};

const script = ({ body }: ServerRequest): ServerReply => {
  const messages: { role: string; content: string }[] = body.messages;
  const done = messages.findLast(({ role }) => role === 'tool')?.content;
  return done === undefined ? RUN : { text: /42/.test(done) ? 'All is 42.' : 'Nothing was done.' };
};

async function withStore<T>({ state }: Pick<Stage, 'state'>, work: (store: Store) => Promise<T>): Promise<T> {
  const path = `${state}/odek.db`;
  const store = await openStore({ path, surface: 'test', durability: 'process', clock: createSystemClock(), ids: createRandomIds() });
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

/** A job whose one time of this year was missed, and runs at once. */
async function dueJob(stage: ChatStage): Promise<void> {
  const added = await stage.run(words('schedule add --cron @yearly --name nightly --deliver telegram --catchup report'));
  expect(added.code).toBe(0);
  await withStore(stage, async ({ schedules }) => {
    const found = await schedules.jobs.get('nightly');
    if (found === undefined) throw new Error('the job is not there');
    await schedules.jobs.remove(found.job.id);
    await schedules.jobs.put(found.job, Date.now() - 366 * 86_400_000);
  });
}

const words = (line: string): string[] => line.split(' ');
const toasts = ({ telegram }: ChatStage): readonly string[] =>
  telegram.callsOf('answerCallbackQuery').map(({ params }) => String(params.text));

describe('a question of a scheduled run', PATIENT, () => {
  it('is shown again by the next bot when the bot is killed, and the answer counts', () =>
    onChatStage(
      script,
      async (stage) => {
        const { telegram, bot, said, start } = stage;
        await dueJob(stage);
        const daemon = start(['schedule', 'daemon']);
        await daemon.untilTold('job nightly begins');
        const first = await bot();
        await said('Approval Required');
        first.child.kill('SIGKILL');
        await first.ended;
        await bot();
        await telegram.until(() => countOf(telegram, 'Approval Required') === 2, 40_000);
        const card = telegram.messages(ANN).findLast(({ text }) => text.includes('Approval Required'));
        if (card === undefined) throw new Error('the card is gone');
        press(telegram, card, 'apr:', ANN);
        await said('All is 42.');
        expect(countOf(telegram, 'All is 42.')).toBe(1);
      },
      ASKING,
    ));

  it('is over when the daemon is killed: the button says so, the end is told once, and nothing runs again', () =>
    onChatStage(
      script,
      async (stage) => {
        const { telegram, bot, said, start, server } = stage;
        await dueJob(stage);
        const daemon = start(['schedule', 'daemon']);
        await daemon.untilTold('job nightly begins');
        await bot();
        const card = await said('Approval Required');
        daemon.child.kill('SIGKILL');
        await daemon.ended;
        press(telegram, card, 'apr:', ANN);
        await telegram.until(() => toasts(stage).some((text) => text.includes('nobody waits for an answer any more')), 40_000);
        start(['schedule', 'daemon']);
        telegram.say({ chatId: ANN, text: '/schedule enable nightly' });
        await said('[scheduled task "nightly" was interrupted]');
        expect(server.count).toBe(1);
        const fires = await withStore(stage, ({ schedules }) => schedules.fires.find({ limit: 100 }));
        expect(fires.map(({ state }) => state)).toEqual(['interrupted']);
        expect(countOf(telegram, 'was interrupted')).toBe(1);
      },
      ASKING,
    ));
});
