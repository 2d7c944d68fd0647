import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import { until } from '../support/processes.ts';
import { onStage, PATIENT } from '../support/stage.ts';
import { deliveriesOf, firesOf, HOUR, inStore, LINE, putDue } from './jobs.ts';

const ROUNDS = 15;
const SECRET = 'whsec-0123456789abcdef';

/** A receiver that answers late, so that kills fall between sending and recording too. */
async function receiver() {
  const got: { readonly job: string; readonly key: string; readonly repeat: boolean }[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => {
      const { job_id: job, possible_repeat: repeat } = JSON.parse(text) as { job_id: string; possible_repeat: boolean };
      got.push({ job, repeat, key: String(request.headers['idempotency-key']) });
      setTimeout(() => response.end('{}'), 120);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { got, port, close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()) };
}

it('a daemon that is killed at any moment runs nothing twice, loses no result, and repeats one at most once a kill', PATIENT, async () => {
  const hook = await receiver();
  const asked: string[] = [];
  const script = async ({
    body,
  }: {
    readonly body: { readonly messages: readonly { readonly role: string; readonly content: string }[] };
  }) => {
    asked.push(body.messages.find(({ role }) => role === 'user')?.content ?? '');
    return { text: 'done', delayMs: 150 };
  };
  const config = { network: { allow_hosts: [`127.0.0.1:${hook.port}`] }, schedules: { webhook_secret: SECRET, max_concurrent: 3 } };
  try {
    await onStage(
      script,
      async (stage) => {
        const ids: string[] = [];
        let kills = 0;
        const due = async (): Promise<void> => {
          const target = { kind: 'webhook', url: `http://127.0.0.1:${hook.port}/` } as const;
          const job = await putDue(stage, { deliver: target, overlap: ids.length % 2 === 0 ? 'skip' : 'queue' });
          await inStore(stage, (store) => store.schedules.jobs.put({ ...job, task: job.id }, Date.now()));
          ids.push(job.id);
        };
        for (let round = 0; round < ROUNDS; round += 1) {
          await due();
          const running = stage.start(['schedule', 'daemon']);
          if (round % 3 === 0) await running.untilTold(/ begins /);
          else if (round % 3 === 1) await running.untilTold('scheduler started');
          await delay(Math.random() * (round % 3 === 2 ? 900 : 450));
          running.child.kill('SIGKILL');
          await running.ended;
          kills += 1;
        }
        const last = stage.start(['schedule', 'daemon']);
        await last.untilTold('scheduler started');
        await until('everything to be over', async () => {
          const fires = await firesOf(stage);
          const isOver = ids.every((id) => fires.some(({ jobId, state }) => jobId === id && (state === 'ran' || state === 'interrupted')));
          const open = fires.some(({ state }) => ['claimed', 'queued', 'running'].includes(state));
          return isOver && !open && (await deliveriesOf(stage)).every(({ state }) => state === 'sent');
        });
        last.child.kill('SIGTERM');
        expect((await last.ended).code).toBe(0);

        const now = Date.now();
        const hourly = createCronCalendar().parse(LINE, 'UTC');
        const fires = await firesOf(stage);
        for (const id of ids) {
          const own = fires.filter(({ jobId }) => jobId === id);
          const from = Math.min(...own.map(({ dueAt }) => dueAt));
          const wanted = 'fault' in hourly ? [] : hourly.between(from - 1, now, 99);
          // Every due time has one record.
          expect(own.map(({ dueAt }) => dueAt).sort()).toEqual(wanted);
          expect(now - from).toBeLessThan(4 * HOUR);
          expect(asked.filter((task) => task === id).length, `${id} was asked`).toBeLessThanOrEqual(1);
        }
        const deliveries = await deliveriesOf(stage);
        expect(deliveries.length).toBeGreaterThanOrEqual(ids.length);
        const byKey = Map.groupBy(hook.got, ({ key }) => key);
        for (const { id, jobId, dueAt } of deliveries) {
          const arrived = byKey.get(`${jobId}-${dueAt}-${id}`) ?? [];
          expect(arrived.length, `${jobId} arrived`).toBeGreaterThanOrEqual(1);
          expect(
            arrived.slice(1).every(({ repeat }) => repeat),
            `${jobId}: repeats are marked`,
          ).toBe(true);
        }
        const repeats = hook.got.length - byKey.size;
        // Of each kind one result is being sent at a time, so that a kill can make one of them uncertain.
        expect(repeats).toBeLessThanOrEqual(kills);
        expect(deliveries.filter(({ maybeRepeat }) => maybeRepeat).length).toBeLessThanOrEqual(kills);
      },
      { config },
    );
  } finally {
    await hook.close();
  }
});
