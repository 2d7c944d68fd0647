import assert from 'node:assert/strict';
import type { PlanControl } from '../../ports/plan.ts';
import type { ContractSuite } from './suite.ts';

export interface PlanControlHarness {
  /** A control over no plan yet, with room for a few steps. */
  make(): PlanControl;
}

const CREATE = { verb: 'create', steps: [{ id: 'a', title: 'A' }] };
const GET = '{"verb":"get"}';

async function created(harness: PlanControlHarness): Promise<PlanControl> {
  const control = harness.make();
  const reply = await control.execute(JSON.stringify(CREATE));
  assert.equal(reply.failed, false, reply.content);
  return control;
}

export const planControlSuite: ContractSuite<PlanControlHarness> = {
  port: 'plan-control',
  cases: [
    {
      id: 'plan-control/raw-or-parsed',
      sentence: '`execute` takes raw JSON text or a parsed value, and raw text keeps number literals.',
      async run(harness) {
        const parsed = harness.make();
        assert.equal((await parsed.execute(CREATE)).failed, false);
        assert.match((await parsed.execute(GET)).content, /a \[pending\] A/);
        const raw = harness.make();
        const check = '{"id":"k","description":"d","tool":"t","arguments":{"n":1.0}}';
        await raw.execute(`{"verb":"create","steps":[{"id":"a","title":"A","checks":[${check}]}]}`);
        assert.match((await raw.execute(GET)).content, /"arguments":\{"n":1\.0\}/);
      },
    },
    {
      id: 'plan-control/never-rejects',
      sentence: 'It settles for every input; a refused call is failed with a text that ends in a correct call.',
      async run(harness) {
        const control = await created(harness);
        for (const input of ['', '{', '[]', '"get"', 'null', undefined, null, 7, [], { verb: 'dance' }, Symbol('s'), () => 1]) {
          const reply = await control.execute(input);
          assert.equal(reply.failed, true, String(input));
          assert.match(reply.content, /\nCorrect call: .*\}$/s);
        }
      },
    },
    {
      id: 'plan-control/refused-changes-nothing',
      sentence: 'A refused call leaves the plan as it was.',
      async run(harness) {
        const control = await created(harness);
        const before = await control.execute(GET);
        const updates = [
          { id: 'a', status: 'blocked' },
          { id: 'zz', status: 'done' },
        ];
        assert.equal((await control.execute({ verb: 'update', updates })).failed, true);
        assert.deepEqual(await control.execute(GET), before);
      },
    },
    {
      id: 'plan-control/answers-with-plan',
      sentence: 'An accepted call answers with the plan as it is then.',
      async run(harness) {
        const control = await created(harness);
        const reply = await control.execute({ verb: 'update', updates: [{ id: 'a', status: 'in_progress' }] });
        assert.match(reply.content, /a \[in_progress\] A/);
        assert.deepEqual(await control.execute(GET), reply);
      },
    },
    {
      id: 'plan-control/in-call-order',
      sentence: 'Calls take effect in the order in which execute was called, each as a whole.',
      async run(harness) {
        const control = await created(harness);
        const notes = Array.from({ length: 20 }, (_, at) => `note ${at}`);
        const replies = await Promise.all(notes.map((note) => control.execute({ verb: 'update', updates: [{ id: 'a', note }] })));
        for (const [at, { content }] of replies.entries())
          assert.ok(content.includes(` v${at + 2} `) && content.endsWith(`note ${at}`), content);
      },
    },
  ],
};
