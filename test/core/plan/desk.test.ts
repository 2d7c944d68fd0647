import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createPlanDesk, type PlanDesk } from '../../../core/plan/desk.ts';
import { planControlSuite } from '../../contracts/plan-control.suite.ts';

const CREATE = '{"verb":"create","steps":["A"]}';

function desk(redact: (json: string) => string = (json) => json): PlanDesk {
  return createPlanDesk({ maxSteps: 12, maxRenderChars: 2000, hash: createSha256(), redact });
}

function withOneRun(): PlanDesk {
  const made = desk();
  made.open('r1', () => {});
  return made;
}

describe('the desk with one run keeps the contract of a plan control', () => {
  for (const { id, sentence, run } of planControlSuite.cases) it(`${id}: ${sentence}`, () => run({ make: withOneRun }));
});

describe('the desk', () => {
  it('brings a call to the plan of its run', async () => {
    const made = withOneRun();
    const second = made.open('r2', () => {});
    expect((await made.execute(CREATE, 'r2')).failed).toBe(false);
    expect(second.state().steps).toHaveLength(1);
    expect((await made.execute('{"verb":"get"}', 'r1')).content).toBe('No active plan.');
  });

  it('refuses a call of no run, of an ended run, and one that does not say which of two', async () => {
    const made = desk();
    expect(await made.execute(CREATE)).toMatchObject({ failed: true, content: expect.stringMatching(/belongs to no run\nCorrect call: /) });
    made.open('r1', () => {});
    made.open('r2', () => {});
    expect((await made.execute(CREATE)).failed).toBe(true);
    made.close('r2');
    expect((await made.execute(CREATE, 'r2')).failed).toBe(true);
    expect((await made.execute(CREATE)).failed).toBe(false);
  });

  it('masks secrets before a plan takes them up', async () => {
    const made = desk((json) => json.replaceAll('hunter2', '[REDACTED]'));
    const plan = made.open('r1', () => {});
    await made.execute('{"verb":"create","steps":["Use hunter2"]}', 'r1');
    expect(plan.state().steps[0]?.title).toBe('Use [REDACTED]');
  });

  it('tells changes of a run to that run alone', async () => {
    const made = desk();
    const told: string[] = [];
    made.open('r1', ({ version }) => told.push(`r1 v${version}`));
    made.open('r2', ({ version }) => told.push(`r2 v${version}`));
    await made.execute(CREATE, 'r2');
    expect(told).toEqual(['r2 v1']);
  });
});
