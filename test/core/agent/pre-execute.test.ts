import { afterEach, describe, expect, it } from 'vitest';
import type { PreExecute, PreExecuteCall, PreExecuteVerdict } from '../../../core/agent/plugin-seams.ts';
import type { ApprovalRequest } from '../../../ports/approval.ts';
import { createHarness, fakeTool, type Harness, type HarnessOptions, toolResults } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const SCHEMA = { type: 'object', properties: { n: { type: 'integer' } }, required: ['n'], additionalProperties: false } as const;

async function run(preExecute: PreExecute, more: Partial<HarnessOptions> = {}) {
  const inputs: unknown[] = [];
  const tool = {
    ...fakeTool('count', async (input: unknown) => {
      inputs.push(input);
      return 'counted';
    }),
    parameters: SCHEMA,
    effects: () => ({ reads: ['a.txt'] }),
  };
  harness = await createHarness({
    tools: [tool],
    steps: [{ calls: [{ name: 'count', arguments: { n: 1 } }] }, { text: 'ok' }],
    ...more,
    deps: { preExecute, ...more.deps },
  });
  await harness.run();
  return { inputs, result: toolResults(harness.requests.at(-1) ?? [])[0] ?? '', wire: harness.wire() };
}

const go = (more: Partial<Extract<PreExecuteVerdict, { kind: 'go' }>> = {}): PreExecuteVerdict => ({ kind: 'go', notes: [], ...more });

describe('listeners before a call', () => {
  it('see the validated call and where it belongs', async () => {
    const seen: PreExecuteCall[] = [];
    await run(async (call) => {
      seen.push(call);
      return go();
    });
    expect(seen).toMatchObject([{ name: 'count', input: { n: 1 }, mode: 'headless', model: 'test-model' }]);
  });

  it('are not asked about a call that is not valid', async () => {
    let asked = 0;
    const count: PreExecute = async () => {
      asked += 1;
      return go();
    };
    const { inputs } = await run(count, { steps: [{ calls: [{ name: 'count', arguments: { n: 'one' } }] }, { text: 'ok' }] });
    expect([asked, inputs]).toEqual([0, []]);
  });

  it('deny: the call is not run and ends as denied', async () => {
    const { inputs, result } = await run(async () => ({ kind: 'deny', by: 'extension:guard', reason: 'not on Mondays' }));
    expect(inputs).toEqual([]);
    expect(result).toContain('operation denied by extension:guard: not on Mondays');
    const finished = (await harness?.journal())?.find(({ record }) => record.kind === 'tool_finished')?.record;
    expect(finished).toMatchObject({ message: { outcome: 'denied' } });
  });

  it('that break deny, with no more than what they said', async () => {
    const { inputs, result } = await run(async () => {
      throw new Error('out of order');
    });
    expect(inputs).toEqual([]);
    expect(result).toContain('a pre-execute listener that failed: out of order');
  });

  it('revise: what is executed, journalled and digested is the revision', async () => {
    const { inputs, result, wire } = await run(async () => go({ revision: { by: 'extension:guard', input: { n: 2 } } }));
    expect(inputs).toEqual([{ n: 2 }]);
    expect(result).toContain('extension:guard revised the arguments');
    const started = (await harness?.journal())?.find(({ record }) => record.kind === 'tool_started')?.record;
    expect(started).toMatchObject({ arguments: '{"n":2}' });
    const digest = process.getBuiltinModule('node:crypto').createHash('sha256').update('{"n":2}').digest('hex');
    expect(wire.find(({ type }) => type === 'tool_call_started')).toMatchObject({ data: { args_sha256: digest } });
  });

  it('revise to what is not valid: the call is refused and not run', async () => {
    const { inputs, result } = await run(async () => go({ revision: { by: 'extension:guard', input: { n: 'two' } } }));
    expect(inputs).toEqual([]);
    expect(result).toContain('extension:guard revised the arguments, and they are not valid any more');
  });

  it('annotate: the model reads it with the result, as data', async () => {
    const { result } = await run(async () => go({ notes: [{ by: 'extension:guard', text: 'mind the gap\u202e' }] }));
    expect(result).toContain('[note of extension:guard: mind the gap\\u202e]');
    expect(result.indexOf('mind the gap')).toBeLessThan(result.indexOf('</untrusted_content'));
  });

  it('ask: a person is asked about a call that would have passed, also where everything is allowed', async () => {
    const cards: ApprovalRequest[] = [];
    const { inputs } = await run(async () => go({ ask: { by: 'extension:guard', reason: 'looks odd' } }), {
      approver: {
        decide: async (request) => {
          cards.push(request);
          return { decision: 'deny', by: 'test' };
        },
      },
    });
    expect(cards[0]?.items[0].reason).toContain('looks odd (extension:guard)');
    expect(cards[0]?.allowTrust).toBe(false);
    expect(inputs).toEqual([]);
  });

  it.each(['read_only', 'allow', 'deny'] as const)(
    'ask where nobody can be asked: denied, also with the rule %s',
    async (nonInteractive) => {
      const danger = { classes: {}, allowlist: [], denylist: [], action: 'allow', nonInteractive } as const;
      const { inputs, result } = await run(async () => go({ ask: { by: 'extension:guard', reason: 'looks odd' } }), {
        settings: { danger },
      });
      expect(inputs).toEqual([]);
      expect(result).toContain('extension:guard wants one to be asked each time');
    },
  );

  it('cannot turn a denial of the operator into anything else', async () => {
    const danger = { classes: {}, allowlist: [], denylist: [], action: 'deny', nonInteractive: 'deny' } as const;
    const { inputs } = await run(async () => go({ ask: { by: 'x', reason: 'y' } }), { settings: { danger } });
    expect(inputs).toEqual([]);
  });
});
