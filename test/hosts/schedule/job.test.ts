import { describe, expect, it } from 'vitest';
import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import {
  asConfigured,
  changedJob,
  checkedJob,
  deliveryText,
  isJobId,
  type JobInput,
  type JobPlace,
  parseDelivery,
} from '../../../hosts/schedule/job.ts';
import { NOON } from '../../contracts/schedule-store.suite.ts';
import { createSequentialIds } from '../../fakes/ids.ts';
import { schedulesConfig } from './fixture.ts';

const schedules = schedulesConfig({
  timezone: 'Europe/Berlin',
  webhook_secret: 'whsec-0123456789abcdef',
  deliver_folders: ['/srv/reports'],
});

function make(changes: Partial<JobInput> = {}, place: Partial<JobPlace> = {}) {
  const input = { cron: '30 7 * * 1-5', task: ' look at the logs ', workspace: '/work', ...changes };
  return checkedJob(input, { calendar: createCronCalendar(), schedules, ids: createSequentialIds(), now: NOON, taken: [], ...place });
}

const codeOf = (changes: Partial<JobInput>): string => {
  try {
    make(changes);
    return 'none';
  } catch (error) {
    return `${(error as { code: string }).code}: ${(error as Error).message}`;
  }
};

describe('a job as it is written down', () => {
  it('takes what it does not say from the configuration', () => {
    const job = make();
    expect(isJobId(job.id)).toBe(true);
    expect({ ...job, id: '' }).toEqual({
      id: '',
      name: 'look at the logs',
      cron: '30 7 * * 1-5',
      timezone: 'Europe/Berlin',
      task: 'look at the logs',
      deliver: { kind: 'stdout' },
      enabled: true,
      catchUp: false,
      overlap: 'skip',
      session: 'fresh',
      workspace: '/work',
      limits: {},
      dailyTokens: 0,
      timeoutMs: 900_000,
      createdAt: NOON,
      follows: ['timezone', 'catchUp'],
    });
  });

  it('follows the configuration in what it does not say, and in nothing else', () => {
    const calendar = createCronCalendar();
    const changed = schedulesConfig({ timezone: 'Asia/Tokyo', catchup: true });
    expect(asConfigured(make(), calendar, changed)).toMatchObject({ timezone: 'Asia/Tokyo', catchUp: true });
    expect(asConfigured(make({ timezone: 'UTC' }), calendar, changed)).toMatchObject({ timezone: 'UTC', catchUp: true });
    expect(asConfigured(make({ timezone: 'UTC', catchUp: false }), calendar, changed)).toBeUndefined();
    expect(asConfigured(make(), calendar, schedules)).toBeUndefined();
    expect(() => asConfigured(make(), calendar, schedulesConfig({ timezone: 'Mars/Base' }))).toThrow('Mars/Base');
  });

  it('keeps through a change what the change does not name', () => {
    const place = { calendar: createCronCalendar(), schedules, ids: createSequentialIds(), now: NOON + 5, taken: [] };
    const job = make({ deliver: 'webhook:https://example.com/', limits: { max_tool_calls: 5 }, timeoutSeconds: 7, model: 'small' });
    expect(changedJob(job, {}, place)).toEqual(job);
    const without = { ...place, schedules: schedulesConfig({}) };
    expect(changedJob(job, { cron: '@daily' }, without)).toMatchObject({
      cron: '@daily',
      deliver: job.deliver,
      id: job.id,
      createdAt: NOON,
    });
    const moved = changedJob(job, { timezone: 'UTC', limits: { max_output_tokens: 3 }, deliver: 'log' }, place);
    expect(moved).toMatchObject({ timezone: 'UTC', limits: { max_tool_calls: 5, max_output_tokens: 3 }, deliver: { kind: 'log' } });
    expect(moved).toMatchObject({ follows: ['catchUp'], timeoutMs: 7_000, model: 'small' });
    const filed = make({ deliver: 'file:report.md' });
    expect(() => changedJob(filed, { workspace: '/elsewhere' }, place)).toThrow('deliver file:');
  });

  it('that names itself nothing gets the first words of its task, and a number where they are taken', () => {
    const task = 'one two\nthree four five six seven';
    expect(make({ task }).name).toBe('one two three four five six');
    expect(make({ task }, { taken: ['one two three four five six', 'one two three four five six 2'] }).name).toBe(
      'one two three four five six 3',
    );
    expect([...make({ task: '🦊'.repeat(200) }).name]).toHaveLength(60);
  });

  it.each([
    [{ task: '  ' }, 'invalid_job: the task must be text that is not empty'],
    [{ task: 'x'.repeat(65_537) }, 'invalid_job: the length of the task must be at most 65536 characters'],
    [{ name: 'x'.repeat(65) }, 'invalid_job: the name must be 1 to 64 characters of one line'],
    [{ name: 'two\nlines' }, 'invalid_job: the name must be 1 to 64 characters of one line'],
    [{ name: 'jb-0123abcd' }, 'invalid_job: the name must be something else than the id of a job'],
    [{ cron: '0 25 * * *' }, 'invalid_cron: hour "25"'],
    [{ cron: '@reboot' }, 'invalid_cron: '],
    [{ cron: '0 9 31 2 *' }, 'invalid_cron: "0 9 31 2 *" has no date'],
    [{ cron: '*'.repeat(257) }, 'invalid_cron: the cron line has 257 characters, the limit is 256'],
    [{ timezone: 'Mars/Base' }, 'invalid_timezone: there is no time zone "Mars/Base"'],
    [{ timezone: '+02:00' }, 'invalid_timezone: '],
    [{ timeoutSeconds: 0 }, 'invalid_job: timeout must be a whole number of seconds from 1 to 86400, not 0'],
    [{ timeoutSeconds: 86_401 }, 'invalid_job: timeout must be a whole number of seconds from 1 to 86400, not 86401'],
    [{ dailyTokens: -1 }, 'invalid_job: daily-tokens must be a whole number from 0, not -1'],
    [{ limits: { max_tool_calls: 1.5 } }, 'invalid_job: max_tool_calls must be a whole number from 0, not 1.5'],
    [{ workspace: 'relative' }, 'invalid_job: the workspace must be an absolute path, not "relative"'],
    [{ id: 'jb-1' }, 'invalid_job: the id must be jb- and 8 hex digits, not "jb-1"'],
    [{ deliver: 'mail:me' }, 'invalid_job: deliver must be stdout, log, telegram'],
  ])('is refused with value and limit: %j', (changes, expected) => {
    expect(codeOf(changes)).toContain(expected);
  });
});

describe('where a result goes', () => {
  const parse = (text: string) => parseDelivery(text, '/work', schedules);

  it.each([
    ['stdout', { kind: 'stdout' }],
    ['log', { kind: 'log' }],
    ['telegram', { kind: 'telegram' }],
    ['telegram:-1001234567890:7', { kind: 'telegram', chatId: '-1001234567890', topicId: 7 }],
    ['telegram:-1001234567890', { kind: 'telegram', chatId: '-1001234567890' }],
    ['file:/work/out.md', { kind: 'file', path: '/work/out.md' }],
    ['file:/srv/reports/a/b.md', { kind: 'file', path: '/srv/reports/a/b.md' }],
    ['webhook:https://example.com/hook?a=1', { kind: 'webhook', url: 'https://example.com/hook?a=1' }],
  ])('is read from %s and written the same', (text, target) => {
    expect(parse(text)).toEqual(target);
    expect(deliveryText(parse(text))).toBe(text);
  });

  it('may be a file beside the task', () => {
    expect(parse('file:out/../report.md')).toEqual({ kind: 'file', path: '/work/report.md' });
  });

  it.each([
    '',
    'stdout:x',
    'telegram:me',
    'telegram:5:0',
    'telegram:5:',
    'file:',
    'file:/etc/passwd',
    'file:../x',
    'file:/work',
    'file:dir/',
    'webhook:',
    'webhook:ftp://a/b',
    'webhook:https://me:pw@a/',
    'Stdout',
  ])('is not %j', (text) => {
    expect(() => parse(text)).toThrow(expect.objectContaining({ code: 'invalid_job' }));
  });

  it('is no webhook without a secret that signs it', () => {
    expect(() => parseDelivery('webhook:https://example.com/', '/work', schedulesConfig({}))).toThrow(/schedules\.webhook_secret/);
  });
});
