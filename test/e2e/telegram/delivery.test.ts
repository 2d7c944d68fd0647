import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { until } from '../support/processes.ts';
import { PATIENT } from '../support/stage.ts';
import { ANN, countOf, onChatStage } from './stage.ts';

describe('a result that comes while the chat is at work', PATIENT, () => {
  it('is shown at once, and is in the conversation when the run there has ended', () =>
    onChatStage(
      (request) => {
        const task = request.body.messages.findLast(({ role }: { role: string }) => role === 'user').content;
        if (task === 'report') return { text: 'The report.' };
        return task === 'slow' ? { text: 'Slow answer.', delayMs: 8_000 } : { text: 'Later answer.' };
      },
      async ({ telegram, bot, said, run, state, server }) => {
        await bot();
        telegram.say({ chatId: ANN, text: 'slow' });
        await said('Looking into that');
        const added = await run(['schedule', 'add', '--cron', '0 0 1 1 *', '--name', 'nightly', '--deliver', 'telegram', 'report']);
        expect(added.code).toBe(0);
        expect((await run(['schedule', 'run', 'nightly'])).code).toBe(0);
        await said('The report.');
        expect(countOf(telegram, 'Slow answer.')).toBe(0);
        await said('Slow answer.');
        const store = await openStore({
          path: `${state}/odek.db`,
          surface: 'test',
          durability: 'process',
          clock: createSystemClock(),
          ids: createRandomIds(),
        });
        try {
          await until('the result is in the conversation', async () =>
            JSON.stringify((await store.sessions.read(`tg-${ANN}`)).records).includes('The report.'),
          );
        } finally {
          await store.close();
        }
        telegram.say({ chatId: ANN, text: 'what did it say?' });
        await said('Later answer.');
        const sent = JSON.stringify(server.requests.at(-1)?.body.messages);
        expect(sent.indexOf('Slow answer.')).toBeLessThan(sent.indexOf('[scheduled task \\"nightly\\" ran]'));
        expect(countOf(telegram, 'The report.')).toBe(1);
      },
      { telegram: { default_chat_id: ANN } },
    ));

  it('that cannot be delivered for good is kept and told, and keeps no other from coming', () =>
    onChatStage(
      () => ({ text: 'The report.' }),
      async ({ telegram, bot, said, run }) => {
        const running = await bot();
        telegram.forget(555);
        for (const [name, to] of [
          ['lost', 'telegram:555'],
          ['found', 'telegram'],
        ] as const) {
          const added = await run(['schedule', 'add', '--cron', '0 0 1 1 *', '--name', name, '--deliver', to, 'report']);
          expect(added.code).toBe(0);
          await run(['schedule', 'run', name]);
        }
        await said('The report.');
        await running.untilTold('the result of job lost did not reach telegram');
        expect((await run(['schedule', 'deliveries'])).stdout).toContain('failed');
      },
      { telegram: { default_chat_id: ANN } },
    ));
});
