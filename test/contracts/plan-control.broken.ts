import { createPlanStore } from '../../core/plan/store.ts';
import type { PlanControl } from '../../ports/plan.ts';
import { hash } from '../core/plan/fixture.ts';
import type { PlanControlHarness } from './plan-control.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** The real control with room for five steps. */
export const realPlanControl: PlanControlHarness = { make: () => createPlanStore({ maxSteps: 5, maxRenderChars: 2000, hash }) };

function altered(execute: (real: PlanControl, args: unknown) => ReturnType<PlanControl['execute']>): PlanControlHarness {
  return {
    make() {
      const real = realPlanControl.make();
      return { execute: (args) => execute(real, args) };
    },
  };
}

function parsed(args: unknown): unknown {
  return typeof args === 'string' ? JSON.parse(args) : args;
}

/** Applies the entries of an update one by one. */
async function oneByOne(real: PlanControl, args: unknown): ReturnType<PlanControl['execute']> {
  const call = parsed(args);
  if (typeof call !== 'object' || call === null || !('updates' in call) || !Array.isArray(call.updates)) return real.execute(args);
  let reply = await real.execute('{"verb":"get"}');
  for (const update of call.updates) reply = await real.execute({ verb: 'update', updates: [update] });
  return reply;
}

/** Holds every other call back for a while. */
function shuffling(): PlanControlHarness {
  return {
    make() {
      const real = realPlanControl.make();
      let calls = 0;
      return {
        async execute(args) {
          calls++;
          if (calls % 2 === 0) for (let turn = 0; turn < 5; turn++) await Promise.resolve();
          return real.execute(args);
        },
      };
    },
  };
}

export const brokenPlanControls: readonly BrokenAdapter<PlanControlHarness>[] = [
  {
    name: 'parses raw text on its own and loses number literals',
    caughtBy: 'plan-control/raw-or-parsed',
    harness: altered(async (real, args) => real.execute(parsed(args))),
  },
  {
    name: 'rejects on text that is not JSON',
    caughtBy: 'plan-control/never-rejects',
    harness: altered(async (real, args) => {
      parsed(args);
      return real.execute(args);
    }),
  },
  {
    name: 'keeps the first half of a refused update',
    caughtBy: 'plan-control/refused-changes-nothing',
    harness: altered(oneByOne),
  },
  {
    name: 'answers with the plan as it was before the call',
    caughtBy: 'plan-control/answers-with-plan',
    harness: altered(async (real, args) => {
      const before = await real.execute('{"verb":"get"}');
      const reply = await real.execute(args);
      return reply.failed ? reply : before;
    }),
  },
  { name: 'lets calls overtake each other', caughtBy: 'plan-control/in-call-order', harness: shuffling() },
];
