import { afterEach, describe, expect, it } from 'vitest';
import { type CallServices, type CoreCallOutcome, callServicesOf } from '../../../core/agent/attached-services.ts';
import type { ApprovalRequest, ApprovalVerdict, DangerPolicy } from '../../../ports/approval.ts';
import { CancelledError } from '../../../ports/errors.ts';
import { defineTool, type ToolExecution } from '../../../ports/plugin.ts';
import { createHarness, fakeTool, type Harness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const PLAIN: DangerPolicy = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' };
const FULL: DangerPolicy = { ...PLAIN, action: 'allow' };
const CALLER = { plugin: 'extension:asker', tool: 'ask_core', build: 'asker 1' };

interface Given {
  readonly work: (services: CallServices, exec: ToolExecution) => Promise<unknown>;
  readonly danger?: DangerPolicy;
  readonly answer?: (request: ApprovalRequest, signal: AbortSignal) => Promise<ApprovalVerdict> | ApprovalVerdict;
  readonly maxToolCalls?: number;
}

async function run({ work, danger = FULL, answer, maxToolCalls }: Given) {
  const cards: ApprovalRequest[] = [];
  const ran: string[] = [];
  const failures: unknown[] = [];
  const effect = (name: string, effects: object) => ({
    ...fakeTool(name, async () => {
      ran.push(name);
      return `${name} ran`;
    }),
    effects: () => effects,
  });
  const asker = defineTool<object>({
    name: 'ask_core',
    description: 'Asks core.',
    parameters: { type: 'object' },
    async execute(_input, exec) {
      const services = callServicesOf(exec);
      if (services === undefined) throw new Error('nothing is attached');
      await work(services, exec).catch((error: unknown) => failures.push(error));
      return 'asked';
    },
  });
  harness = await createHarness({
    tools: [
      effect('read_file', { reads: ['a.txt'] }),
      effect('write_file', { writes: ['b.txt'] }),
      effect('shell', { command: 'echo hi' }),
      effect('web_get', { hosts: ['example.org'] }),
    ],
    foreignTools: [asker, fakeTool('other_tool')],
    steps: [{ calls: [{ name: 'ask_core', arguments: {} }] }, { text: 'ok' }],
    settings: { danger, ...(maxToolCalls !== undefined && { limits: { max_tool_calls: maxToolCalls } }) },
    ...(answer && {
      approver: {
        decide: async (request, signal) => {
          cards.push(request);
          return answer(request, signal);
        },
      },
    }),
  });
  const result = await harness.run();
  const record = (await harness.journal()).map(({ record: each }) => each).find(({ kind }) => kind === 'tool_finished');
  return { cards, ran, failures, result, record };
}

const call = (
  services: CallServices,
  name: string,
  more: { readonly signal?: AbortSignal; hold?(): () => void } = {},
): Promise<CoreCallOutcome> =>
  services.call({
    name,
    input: {},
    caller: CALLER,
    signal: more.signal ?? new AbortController().signal,
    hold: more.hold ?? (() => () => {}),
  });

const yes = (): ApprovalVerdict => ({ decision: 'approve', by: 'test' });

describe('a plugin that asks core to run a tool', () => {
  it('gets the text of a harmless one without anybody being asked, and it is recorded', async () => {
    let outcome: CoreCallOutcome | undefined;
    const { ran, record } = await run({
      danger: PLAIN,
      answer: (request) => ({ decision: request.items[0].tool === 'ask_core' ? 'approve' : 'deny', by: 'test' }),
      work: async (services) => {
        outcome = await call(services, 'read_file');
      },
    });
    expect(outcome).toEqual({ outcome: 'completed', text: 'read_file ran' });
    expect(ran).toEqual(['read_file']);
    expect(record).toMatchObject({ coreCalls: [{ by: 'extension:asker', tool: 'read_file', class: 'safe', outcome: 'completed' }] });
  });

  it('has a person asked about everything else, with words that core wrote', async () => {
    const { cards, ran } = await run({ danger: PLAIN, answer: yes, work: (services) => call(services, 'write_file') });
    expect(cards).toHaveLength(2);
    expect(cards[1]?.items[0]).toMatchObject({ tool: 'write_file', resource: 'b.txt' });
    expect(cards[1]?.items[0].reason).toMatch(/^Requested by extension:asker from inside its tool ask_core; /);
    expect(ran).toEqual(['write_file']);
  });

  it('is not run where nobody can be asked, unless the operator allows everything', async () => {
    const outcomes: string[] = [];
    const work = async (services: CallServices): Promise<void> => {
      for (const name of ['write_file', 'shell', 'web_get', 'read_file']) outcomes.push((await call(services, name)).outcome);
    };
    await run({ work });
    expect(outcomes).toEqual(['completed', 'denied', 'denied', 'completed']);
  });

  it.each(['shell', 'web_get'])('has a person asked about %s every time, also where everything is allowed', async (name) => {
    const { cards } = await run({
      answer: yes,
      work: async (services) => {
        await call(services, name);
        await call(services, name);
      },
    });
    expect(cards.filter(({ items }) => items[0].tool === name)).toHaveLength(2);
    expect(cards.every(({ allowTrust, items }) => items[0].tool !== name || !allowTrust)).toBe(true);
  });

  it('is not covered by what a person trusts the model with', async () => {
    const danger = { ...PLAIN, classes: { local_write: 'prompt' } } as const;
    let trusting = true;
    const { cards } = await run({
      danger,
      answer: () => ({ decision: trusting ? 'trust' : 'deny', by: 'test' }),
      work: async (services) => {
        trusting = true;
        await call(services, 'write_file');
        await call(services, 'write_file');
      },
    });
    // Trusted once for this plugin; the plugin's own card came before.
    expect(cards.map(({ items }) => items[0].tool)).toEqual(['ask_core', 'write_file']);
  });

  it.each(['ask_core', 'other_tool', 'plan', 'clarify', 'bg_start', 'memory_write', 'ci__report', 'PLAN'])(
    'is refused %s, and nobody is asked',
    async (name) => {
      let outcome: CoreCallOutcome | undefined;
      const { cards } = await run({
        answer: yes,
        work: async (services) => {
          outcome = await call(services, name);
        },
      });
      expect(outcome?.outcome).toBe('refused');
      expect(cards.filter(({ items }) => items[0].tool === name && items[0].reason.startsWith('Requested'))).toEqual([]);
    },
  );

  it('spends the budget of the run', async () => {
    const outcomes: string[] = [];
    await run({
      maxToolCalls: 2,
      work: async (services) => {
        outcomes.push((await call(services, 'read_file')).outcome, (await call(services, 'read_file')).outcome);
      },
    });
    expect(outcomes).toEqual(['completed', 'skipped_budget']);
  });

  it('holds the clock of its call while a person is asked', async () => {
    const held: string[] = [];
    const hold = () => {
      held.push('held');
      return () => held.push('let go');
    };
    await run({
      answer: (request) => {
        if (request.items[0].tool === 'shell') held.push('asked');
        return yes();
      },
      work: (services) => call(services, 'shell', { hold: hold as () => () => void }),
    });
    expect(held).toEqual(['held', 'asked', 'let go']);
  });

  it('loses a card that waits when its call ends, and what comes later is nothing', async () => {
    let withdrawn = false;
    let after: CallServices | undefined;
    const { record, ran } = await run({
      answer: (request, signal) => {
        if (request.items[0].tool !== 'shell') return yes();
        return new Promise((_, reject) =>
          signal.addEventListener('abort', () => {
            withdrawn = true;
            reject(new CancelledError());
          }),
        );
      },
      work: async (services) => {
        after = services;
        void call(services, 'shell');
        await new Promise((resolve) => setTimeout(resolve, 50));
      },
    });
    expect(withdrawn).toBe(true);
    expect(ran).toEqual([]);
    expect(record).toMatchObject({ coreCalls: [{ tool: 'shell', outcome: 'cancelled' }] });
    expect(await call(after as CallServices, 'read_file')).toMatchObject({ outcome: 'cancelled' });
    expect(ran).toEqual([]);
  });

  it('has a completion of the model, inside the budget of the run', async () => {
    let text: string | undefined;
    const { failures } = await run({
      work: async (services) => {
        text = await services.complete([{ role: 'user', content: 'say ok' }], 100, new AbortController().signal);
      },
    });
    expect(failures).toEqual([]);
    expect(text).toBe('ok');
    const usage = (await harness?.journal())?.filter(({ record }) => record.kind === 'usage' && record.purpose === 'side');
    expect(usage).toHaveLength(1);
  });
});
