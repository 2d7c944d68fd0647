import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, it } from 'vitest';
import { OPERATOR_KEY, onStage, PATIENT, type Stage } from '../support/stage.ts';
import { deliveriesOf, putDue } from './jobs.ts';

const idIn = (text: string): string => /jb-[0-9a-f]{8}/.exec(text)?.[0] ?? '';

async function add({ run }: Pick<Stage, 'run'>, ...args: readonly string[]) {
  return run(['schedule', 'add', ...args]);
}

describe.concurrent('odek schedule', PATIENT, () => {
  it('adds a job and shows when it is due, lists, shows, turns it off and on, and removes it', () =>
    onStage([], async (stage) => {
      const { run, work } = stage;
      const added = await add(
        stage,
        '--cron',
        '30 2 * * *',
        '--tz',
        'Europe/Berlin',
        '--name',
        'nightly',
        '--max-tool-calls',
        '5',
        'look',
        'at',
        'it',
      );
      expect(added.code).toBe(0);
      expect(added.stdout).toMatch(
        /^jb-[0-9a-f]{8} nightly: 30 2 \* \* \* in Europe\/Berlin, to stdout\ndue next:\n( {2}.* (02:30|03:00) .*\n| {2}· .*\n)+/,
      );
      expect(added.stdout).toMatch(/clocks go (forward|back) on \d{4}-\d\d-\d\d from/);
      const id = idIn(added.stdout);
      const list = await run(['schedule', 'list']);
      expect(list.stdout.split('\n')[0]).toMatch(/^ID +ON +CRON +NEXT +LAST +NAME$/);
      expect(list.stdout).toMatch(
        new RegExp(`\\n${id} +yes +30 2 \\* \\* \\* +\\d{4}-\\d\\d-\\d\\d 0[23]:[03]0 \\+0[12]:00 +- +nightly\\n`),
      );
      const shown = JSON.parse((await run(['schedule', 'show', 'nightly', '--json'])).stdout);
      expect(shown).toMatchObject({
        id,
        task: 'look at it',
        limits: { max_tool_calls: 5 },
        workspace: work,
        catchup: false,
        timeout_seconds: 900,
      });
      expect((await run(['schedule', 'show', id])).stdout).toContain('max_tool_calls 5');
      expect((await run(['schedule', 'disable', 'nightly'])).code).toBe(0);
      expect((await run(['schedule', 'list'])).stdout).toMatch(new RegExp(`${id} +no .* - +- +nightly`));
      expect((await run(['schedule', 'enable', 'nightly'])).code).toBe(0);
      const hundred = JSON.parse((await run(['schedule', 'next', 'nightly', '--count', '100', '--json'])).stdout);
      expect(hundred.next).toHaveLength(100);
      expect((await run(['schedule', 'rm', 'nightly'])).code).toBe(0);
      expect((await run(['schedule', 'list', '--json'])).stdout).toBe('[]\n');
      expect((await run(['schedule', 'show', 'nightly'])).code).toBe(3);
    }));

  it('changes a job, which keeps its id, its history and what was not named', () =>
    onStage(
      () => ({ text: 'seen' }),
      async (stage) => {
        const { run } = stage;
        const id = idIn(
          (
            await add(
              stage,
              '--cron',
              '@daily',
              '--name',
              'old',
              '--max-tool-calls',
              '5',
              '--model',
              'scripted',
              '--session',
              'continue',
              'look',
            )
          ).stdout,
        );
        expect((await add(stage, '--cron', '@daily', '--name', 'taken', 'look')).code).toBe(0);
        expect((await run(['schedule', 'run', 'old'])).code).toBe(0);
        const flags = [
          '--name',
          'new',
          '--cron',
          '15 4 * * 1',
          '--tz',
          'Asia/Tokyo',
          '--deliver',
          'log',
          '--catchup',
          '--max-output-tokens',
          '9',
        ];
        const edited = await run(['schedule', 'edit', 'old', ...flags, 'look', 'closer']);
        expect(edited).toMatchObject({ code: 0, stdout: expect.stringContaining(`${id} new: 15 4 * * 1 in Asia/Tokyo, to log\n`) });
        const shown = async () => JSON.parse((await run(['schedule', 'show', id, '--json'])).stdout);
        expect(await shown()).toMatchObject({
          ...{ id, name: 'new', cron: '15 4 * * 1', timezone: 'Asia/Tokyo', deliver: 'log', catchup: true, task: 'look closer', runs: 1 },
          ...{ session: 'continue', model: 'scripted', limits: { max_tool_calls: 5, max_output_tokens: 9 }, enabled: true },
        });
        expect((await run(['schedule', 'history', 'new'])).stdout).toMatch(/new +answer/);
        expect((await run(['schedule', 'edit', 'new', '--disabled', '--max-tool-calls', '0'])).stdout).toContain(', disabled');
        expect((await shown()).limits.max_tool_calls).toBe(0);
        expect((await run(['schedule', 'edit', 'new', '--no-disabled'])).code).toBe(0);
        const before = await shown();
        expect(before).toMatchObject({ enabled: true, task: 'look closer' });
        for (const [args, message] of [
          [['--cron', 'never'], 'a cron line has five fields'],
          [['--tz', 'Mars/Base'], 'there is no time zone'],
          [['--name', 'taken'], 'the name "taken" belongs to'],
          [['--deliver', 'file:../x'], 'deliver file: must be a file in'],
          [[], 'needs what is to change'],
        ] as const) {
          expect(await run(['schedule', 'edit', 'new', ...args])).toMatchObject({ code: 3, stderr: expect.stringContaining(message) });
        }
        expect(await shown()).toEqual(before);
        expect((await run(['schedule', 'edit', 'nobody', '--cron', '@daily'])).code).toBe(3);
      },
    ));

  it('warns where a job has a cost limit that no price backs', () =>
    onStage([], async (stage) => {
      const added = await add(stage, '--cron', '@daily', '--max-cost-usd', '0.5', 'look');
      expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining('limits.max_cost_usd (0.5) is not enforced') });
    }));

  it.each([
    [['--cron', '61 * * * *', 'x'], 'minute "61": 61 is not from 0 to 59'],
    [['--cron', '0 9 * * *', '--tz', 'Mars/Base', 'x'], 'there is no time zone "Mars/Base"'],
    [['--cron', '0 9 * * *', '--deliver', 'pigeon', 'x'], 'deliver must be stdout, log, telegram'],
    [['--cron', '0 9 * * *', '--deliver', 'webhook:https://example.com/', 'x'], 'schedules.webhook_secret'],
    [['--cron', '0 9 * * *', '--workspace', 'nowhere', 'x'], 'the workspace must be a folder that is there'],
    [['--cron', '0 9 * * *', '--timeout', '0', 'x'], '--timeout must be a whole number from 1 to 86400, not "0"'],
    [['--cron', '0 9 * * *', 'x', '--nonsense'], 'unknown flag --nonsense'],
    [['--cron', '0 9 * * *'], 'odek schedule add needs a task in words'],
    [['x'], 'odek schedule add needs --cron'],
    [['--cron', '0 9 * * *', '--skip-bad', 'x'], '--skip-bad does not go with odek schedule add'],
  ])('stores nothing that is wrong: %j', (args, message) =>
    onStage([], async (stage) => {
      const { code, stderr } = await add(stage, ...args);
      expect(code).toBe(3);
      expect(stderr).toContain(message);
      expect((await stage.run(['schedule', 'list', '--json'])).stdout).toBe('[]\n');
    }),
  );

  it('imports a schedules.json whole or not at all, unless told to leave out what is bad', () =>
    onStage([], async (stage) => {
      const { run } = stage;
      const broken = await stage.file('broken.json', '{"version":1,"jobs":[{"id":"jb-0bad');
      expect(await run(['schedule', 'import', broken])).toMatchObject({ code: 3, stderr: expect.stringContaining('it is not JSON') });
      const jobs = [
        { id: 'jb-0badcafe', name: 'good', cron: '@daily', task: 'look', deliver: { kind: 'telegram', chat_id: '42' }, enabled: true },
        { id: 'jb-0badcaff', name: 'bad', cron: 'never', task: 'look', deliver: { kind: 'stdout' }, enabled: true },
      ];
      const file = await stage.file('schedules.json', JSON.stringify({ version: 1, jobs }));
      const refused = await run(['schedule', 'import', file]);
      expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining('jobs[1] "bad": ') });
      expect((await run(['schedule', 'list', '--json'])).stdout).toBe('[]\n');
      const taken = await run(['schedule', 'import', file, '--skip-bad']);
      expect(taken).toMatchObject({ code: 0, stdout: 'jb-0badcafe good\n1 imported, 1 left out\n' });
      expect((await run(['schedule', 'show', 'good', '--json'])).stdout).toContain('"telegram:42"');
      expect((await run(['schedule', 'import', file, '--skip-bad'])).stdout).toBe('0 imported, 2 left out\n');
      expect((await run(['schedule', 'import'])).stderr).toContain(join(stage.state, 'schedules.json'));
    }));

  it('runs a job by hand: its answer on standard output, masked, its end in the exit code and the history', () =>
    onStage([{ text: `The key is ${OPERATOR_KEY}.` }, { status: 400, error: { message: 'no' } }], async (stage) => {
      const job = await putDue(stage, { name: 'by hand' });
      const first = await stage.run(['schedule', 'run', 'by hand']);
      expect(first).toMatchObject({ code: 0, stdout: expect.stringMatching(/^The key is .*\.\n$/) });
      const second = await stage.run(['schedule', 'run', 'by hand']);
      expect(second.code).toBe(1);
      expect(second.stdout).toContain('[scheduled task "by hand" failed]');
      const history = await stage.run(['schedule', 'history', job.id, '--json']);
      const records = history.stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line));
      expect(records.map(({ outcome, by_hand }) => [outcome, by_hand])).toEqual([
        ['failed', true],
        ['answer', true],
      ]);
      for (const text of [first.stdout, history.stdout, JSON.stringify(await deliveriesOf(stage))])
        expect(text).not.toContain(OPERATOR_KEY);
    }));

  it('sends by hand the result of that job, and leaves those of others to the scheduler', () =>
    onStage(
      () => ({ text: 'the report' }),
      async (stage) => {
        const other = await putDue(stage, { deliver: { kind: 'telegram' } });
        const job = await putDue(stage);
        expect((await stage.run(['schedule', 'run', other.id])).code).toBe(0);
        const db = new DatabaseSync(join(stage.state, 'odek.db'));
        db.exec(`UPDATE schedule_deliveries SET target = '{"kind":"stdout"}'`);
        db.close();
        expect((await stage.run(['schedule', 'run', job.id])).stdout).toBe('the report\n');
        expect((await deliveriesOf(stage)).map(({ jobId, state }) => [jobId, state])).toEqual([
          [job.id, 'sent'],
          [other.id, 'pending'],
        ]);
      },
    ));

  it('writes results into files and the log, and keeps for Telegram what only the bot can send', () =>
    onStage(
      () => ({ text: 'the report' }),
      async (stage) => {
        const report = join(stage.work, 'report.md');
        const jobs = [
          await putDue(stage, { name: 'a', deliver: { kind: 'file', path: report } }),
          await putDue(stage, { name: 'b', deliver: { kind: 'log' } }),
          await putDue(stage, { name: 'c', deliver: { kind: 'telegram', chatId: '42' } }),
          await putDue(stage, { name: 'd', deliver: { kind: 'file', path: join(stage.state, 'config.json') } }),
        ];
        for (const { id } of jobs) expect((await stage.run(['schedule', 'run', id])).code).toBe(0);
        expect(await readFile(report, 'utf8')).toMatch(/^--- a, .*Z\nthe report\n$/);
        expect((await stat(report)).mode & 0o777).toBe(0o600);
        expect(await readFile(join(stage.state, 'schedule.log'), 'utf8')).toMatch(/--- b, .*Z\nthe report\n/);
        const deliveries = await stage.run(['schedule', 'deliveries']);
        expect(deliveries.stdout).toMatch(/ c +telegram:42 +pending/);
        expect(deliveries.stdout).toMatch(/ d +file:.* +failed +file .* is not written/);
        expect((await stage.run(['schedule', 'status'])).stdout).toContain('1 wait for the Telegram bot');
      },
    ));

  it('loads nothing of itself for other commands', () =>
    onStage([{ text: 'hello' }], async (stage) => {
      const file = join(stage.work, 'loaded');
      const hook = new URL('../support/loaded-modules.mjs', import.meta.url).href;
      const env = { NODE_OPTIONS: `--import ${hook}`, LOADED_MODULES: file };
      expect((await stage.run(['run', 'say hello'], { source: true, env })).code).toBe(0);
      const loaded = (await readFile(file, 'utf8')).split('\n');
      expect(loaded.some((url) => url.endsWith('hosts/cli/run.ts'))).toBe(true);
      expect(loaded.filter((url) => /hosts\/(cli\/)?schedule\/|croner|node-cron/.test(url))).toEqual([]);
    }));
});
