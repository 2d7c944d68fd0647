import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore, type Store } from '../../../adapters/store/index.ts';
import { openScheduler } from '../../../hosts/schedule/open.ts';
import { SCHEDULE_POLICIES } from '../../../hosts/schedule/policy.ts';
import type { Scheduler, SchedulerOptions } from '../../../hosts/schedule/scheduler.ts';
import type { ApprovalRequest } from '../../../ports/approval.ts';
import type { ScheduleJob } from '../../../ports/schedule.ts';
import { job } from '../../contracts/schedule-store.suite.ts';
import { type OpenAiServer, type ServerScript, startOpenAiServer } from '../../fakes/openai-server.ts';
import { type Home, makeHome } from '../config/home.ts';

const GONE = { mcp_servers: { gone: { command: '/nowhere/server' } } };
const NOBODY = new AbortController().signal;

let home: Home;
let server: OpenAiServer | undefined;
let logged: string[];
let printed: string[];
let open: { readonly scheduler: Scheduler; readonly store: Store }[];

beforeEach(async () => {
  home = await makeHome();
  [logged, printed, open] = [[], [], []];
});
afterEach(async () => {
  for (const { scheduler, store } of open) {
    await scheduler.stop(0);
    await store.close();
  }
  await server?.close();
  server = undefined;
  await home.remove();
});

const connect = (surface: string): Promise<Store> =>
  openStore({ path: join(home.state, 'odek.db'), surface, durability: 'process', clock: createSystemClock(), ids: createRandomIds() });

/** A scheduler as its host has it, over a model that plays a script. */
async function schedulerOf(
  host: keyof typeof SCHEDULE_POLICIES,
  script: ServerScript,
  more: Partial<SchedulerOptions> & { readonly operator?: object } = {},
) {
  server ??= await startOpenAiServer(script);
  const providers = { fixture: { format: 'openai', base_url: server.url, api_key: 'k' } };
  await home.global({ provider: 'fixture', model: 'scripted', providers, ...more.operator });
  const env = { ODEK_HOME: home.state, PATH: process.env.PATH };
  const { config } = await home.load({ env });
  const store = await connect(host);
  const scheduler = await openScheduler({
    surface: host === 'telegram' ? 'telegram' : 'schedule',
    policy: SCHEDULE_POLICIES[host],
    config,
    env,
    cwd: home.cwd,
    store,
    clock: createSystemClock(),
    log: (level, text) => void logged.push(`${level}: ${text}`),
    print: (text) => void printed.push(text),
    timers: false,
    ...more,
  });
  open.push({ scheduler, store });
  return { scheduler, store };
}

const put = (store: Store, changes: Partial<ScheduleJob> = {}) =>
  store.schedules.jobs.put(job('jb-00000001', { name: 'nightly', workspace: home.cwd, ...changes }), Date.now());

describe('a scheduler that begins', () => {
  it('gives jobs that follow the configuration what that says now, and leaves those alone that say it themselves', async () => {
    const { scheduler, store } = await schedulerOf('daemon', [], { operator: { schedules: { timezone: 'Asia/Tokyo', catchup: true } } });
    await put(store, { timezone: 'UTC', follows: ['timezone', 'catchUp'] });
    await put(store, { id: 'jb-00000002', name: 'own', timezone: 'UTC' });
    await scheduler.start();
    await scheduler.tick();
    const [nightly, own] = await store.schedules.jobs.list();
    expect(nightly?.job).toMatchObject({ timezone: 'Asia/Tokyo', catchUp: true });
    expect(own?.job).toMatchObject({ timezone: 'UTC', catchUp: false });
  });

  it('leaves a job as it is where the configured zone means nothing', async () => {
    const { scheduler, store } = await schedulerOf('daemon', [], { operator: { schedules: { timezone: 'Mars/Base' } } });
    await put(store, { timezone: 'UTC', follows: ['timezone'] });
    await scheduler.start();
    await scheduler.tick();
    expect((await store.schedules.jobs.get('nightly'))?.job.timezone).toBe('UTC');
    expect(logged.join()).toContain('warning: job nightly stays as it is: there is no time zone "Mars/Base"');
  });
});

describe('a scheduler inside another host', () => {
  it('waits for the lease, sends what only it can send, and leaves the rest to whoever has the lease', async () => {
    const daemon = await schedulerOf('daemon', () => ({ text: 'done' }));
    const sent: string[] = [];
    const senders = { telegram: async ({ text }: { readonly text: string }) => void sent.push(text) };
    const bot = await schedulerOf('telegram', [], { senders });
    expect(await daemon.scheduler.start()).toBeUndefined();
    expect(await bot.scheduler.start()).toMatchObject({ pid: process.pid, surface: 'schedule' });
    await put(daemon.store, { deliver: { kind: 'telegram', chatId: '42' } });
    await daemon.scheduler.runNow('nightly', NOBODY);
    const claim = await daemon.store.schedules.fires.claim('jb-00000001', { at: Date.now() });
    if (claim) {
      const deliveries = [{ target: { kind: 'log' } as const, text: 'for the log' }];
      await daemon.store.schedules.fires.finish(claim, { state: 'ran', deliveries }, Date.now());
    }
    await bot.scheduler.pump();
    const states = async () => (await bot.store.schedules.outbox.list(9)).map(({ target, state }) => `${target.kind} ${state}`);
    expect([sent, await states()]).toEqual([['done'], ['log pending', 'telegram sent']]);
    expect(bot.scheduler.status()).toMatchObject({ leading: false, running: 0 });

    await daemon.scheduler.stop(0);
    await bot.scheduler.tick();
    await bot.scheduler.pump();
    expect(bot.scheduler.status()).toMatchObject({ leading: true, lookedAt: expect.any(Number) });
    expect((await states())[0]).toBe('log sent');
    expect(await readFile(join(home.state, 'schedule.log'), 'utf8')).toContain('for the log');
  });

  it('goes on without an MCP server that does not connect; the daemon does not start', async () => {
    const bot = await schedulerOf('telegram', () => ({ text: 'done' }), { operator: GONE });
    expect(await bot.scheduler.start()).toBeUndefined();
    await put(bot.store);
    expect(await bot.scheduler.runNow('nightly', NOBODY)).toMatchObject({ outcome: 'answer' });
    expect(logged).toContainEqual(expect.stringContaining('MCP server "gone" is left out'));
    await bot.scheduler.stop(0);
    const daemon = await schedulerOf('daemon', [], { operator: GONE });
    await expect(daemon.scheduler.start()).rejects.toMatchObject({ code: 'mcp_connect_failed' });
    expect(await daemon.store.schedules.leases.holder()).toBeUndefined();
  });

  it('books usage and holds sessions as every scheduled run does', async () => {
    const bot = await schedulerOf('telegram', () => ({ text: 'done' }));
    await put(bot.store);
    await bot.scheduler.runNow('nightly', NOBODY);
    expect(await bot.store.usage.totals({ by: ['surface'] })).toMatchObject([{ surface: 'schedule', calls: 1 }]);
  });
});

describe('a run that wants what needs a person', () => {
  const CALL = { calls: [{ name: 'shell', arguments: { command: "node -e 'console.log(40 + 2)'" } }] };
  const script: ServerScript = ({ body }) => {
    const last = body.messages.at(-1);
    return last.role === 'tool' ? { text: last.content } : CALL;
  };

  it('asks where its host has somebody, and does it after a yes', async () => {
    const asked: ApprovalRequest[] = [];
    const edgesOf = () => ({
      approver: {
        decide: async (request: ApprovalRequest) => {
          asked.push(request);
          return { decision: 'approve', by: 'telegram:7' } as const;
        },
      },
    });
    const bot = await schedulerOf('telegram', script, { edgesOf });
    await put(bot.store);
    expect(await bot.scheduler.runNow('nightly', NOBODY)).toMatchObject({ result: expect.stringContaining('42') });
    expect(asked.map(({ class: cls }) => cls)).toEqual(['code_execution']);
  });

  it('is denied it where there is nobody', async () => {
    const { scheduler, store } = await schedulerOf('daemon', script);
    await put(store);
    expect(await scheduler.runNow('nightly', NOBODY)).toMatchObject({ result: expect.stringContaining('denied') });
  });
});

describe('what goes wrong before a run begins', () => {
  it.each([
    [{ workspace: '/nowhere/at/all' }, {}, 'the folder of the job is not there: /nowhere/at/all'],
    [{}, { provider: 'nobody' }, 'nobody'],
  ])('is its outcome, recorded and told: %j', async (changes, operator, reason) => {
    const { scheduler, store } = await schedulerOf('daemon', [], { operator });
    await put(store, changes);
    const fire = await scheduler.runNow('nightly', NOBODY);
    expect(fire).toMatchObject({ state: 'ran', outcome: 'failed', reason: expect.stringContaining(reason) });
    expect(printed.join('')).toContain(`[scheduled task "nightly" failed] ${fire.reason}`);
  });
});
