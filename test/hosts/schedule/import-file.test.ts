import { describe, expect, it } from 'vitest';
import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import { readJobsFile } from '../../../hosts/schedule/import-file.ts';
import { NOON } from '../../contracts/schedule-store.suite.ts';
import { createSequentialIds } from '../../fakes/ids.ts';
import { schedulesConfig } from './fixture.ts';

const place = {
  calendar: createCronCalendar(),
  schedules: schedulesConfig({ timezone: 'Europe/Berlin' }),
  ids: createSequentialIds(),
  now: NOON,
  workspace: '/work',
  present: [{ id: 'jb-000000aa', name: 'mine' }],
};
const read = (document: unknown) =>
  readJobsFile('schedules.json', typeof document === 'string' ? document : JSON.stringify(document), place);

const GOOD = {
  id: 'jb-0badcafe',
  name: 'nightly',
  cron: '0 3 * * *',
  task: 'look',
  deliver: { kind: 'telegram', chat_id: -100123 },
  enabled: false,
  catchup: true,
  timezone: 'UTC',
  created_at: '2025-05-01T10:00:00Z',
};

describe('a schedules.json', () => {
  it('gives its jobs as they are, and what they leave out from the configuration', () => {
    const { jobs, faults } = read({
      version: 1,
      jobs: [GOOD, { id: 'jb-00000001', name: '', cron: '@daily', task: 'tidy up', deliver: { kind: 'log' } }],
    });
    expect(faults).toEqual([]);
    expect(jobs).toMatchObject([
      {
        id: 'jb-0badcafe',
        name: 'nightly',
        cron: '0 3 * * *',
        task: 'look',
        deliver: { kind: 'telegram', chatId: '-100123' },
        enabled: false,
        catchUp: true,
        timezone: 'UTC',
        workspace: '/work',
        createdAt: Date.UTC(2025, 4, 1, 10),
      },
      { id: 'jb-00000001', name: 'tidy up', timezone: 'Europe/Berlin', enabled: true, catchUp: false, deliver: { kind: 'log' } },
    ]);
  });

  it.each([
    [{ ...GOOD, cron: '99 * * * *' }, 'jobs[0] "nightly": minute "99"'],
    [{ ...GOOD, cron: undefined }, 'jobs[0] "nightly": '],
    [{ ...GOOD, task: '' }, 'jobs[0] "nightly": the task must be'],
    [{ ...GOOD, timezone: 'No/Where' }, 'jobs[0] "nightly": there is no time zone'],
    [{ ...GOOD, deliver: { kind: 'pigeon' } }, 'jobs[0] "nightly": deliver must be'],
    [{ ...GOOD, deliver: 'log' }, 'jobs[0] "nightly": deliver must be an object'],
    [{ ...GOOD, enabled: 'yes' }, 'jobs[0] "nightly": enabled must be true or false'],
    [{ ...GOOD, id: '../../x' }, 'jobs[0] "nightly": the id must be'],
    [{ ...GOOD, shell: 'rm' }, 'jobs[0] "nightly": unknown field shell'],
    [{ ...GOOD, name: 'mine' }, 'jobs[0] "mine": its name belongs to jb-000000aa'],
    [{ ...GOOD, id: 'jb-000000aa' }, 'jobs[0] "nightly": its id belongs to jb-000000aa'],
    [7, 'jobs[0]: an entry must be an object'],
    [null, 'jobs[0]: an entry must be an object'],
  ])('names an entry that cannot be taken, and takes the others: %j', (entry, fault) => {
    const { jobs, faults } = read({ version: 1, jobs: [entry, { ...GOOD, id: 'jb-00000002', name: 'other' }] });
    expect(jobs.map(({ name }) => name)).toEqual(['other']);
    expect(faults).toEqual([expect.stringContaining(fault)]);
  });

  it('takes of two entries with one name the first', () => {
    const { jobs, faults } = read({ version: 1, jobs: [GOOD, { ...GOOD, id: 'jb-00000003' }] });
    expect([jobs.length, faults]).toEqual([1, [expect.stringContaining('jobs[1] "nightly": its name belongs to jb-0badcafe')]]);
  });

  it.each([
    ['{"version":1,"jobs":[{"id":"jb-0bad', 'it is not JSON'],
    ['', 'it is not JSON'],
    ['[]', 'it is not an object with "jobs"'],
    ['{"version":1,"jobs":{}}', 'it is not an object with "jobs"'],
    ['{"version":2,"jobs":[]}', 'its version is 2'],
    [`{"version":1,"jobs":[${Array(1_000).fill('{}').join(',')}]}`, 'it has 1000 jobs, and there is room for 999'],
  ])('is refused as a whole: %.40s', (text, why) => {
    expect(() => read(text)).toThrow(expect.objectContaining({ code: 'invalid_job', message: expect.stringContaining(why) }));
  });
});
