import { afterEach, describe, expect, it } from 'vitest';
import { ProviderError } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { defineTool, type ToolEffects, type ToolSpec } from '../../../ports/plugin.ts';
import type { JournalRecord } from '../../../ports/session.ts';
import { createScriptedProvider, type ScriptedReply } from '../../fakes/llm.ts';
import { createHarness, fakeTool, type Harness, type HarnessOptions } from '../agent/harness.ts';

const never = new AbortController().signal;
const open: Harness[] = [];

async function start(steps: readonly ScriptedReply[], options: Partial<HarnessOptions> = {}): Promise<Harness> {
  const harness = await createHarness({ planning: {}, steps, ...options });
  open.push(harness);
  return harness;
}

afterEach(async () => {
  for (const harness of open.splice(0)) await harness.close();
});

const plan = (args: object) => ({ name: 'plan', arguments: args });
const update = (id: string, status: string) => plan({ verb: 'update', updates: [{ id, status }] });
const check = (tool: string, args: object, id = 'k') => ({ id, description: 'It works', tool, arguments: args });
const create = (...checks: readonly object[]) =>
  plan({
    verb: 'create',
    steps: [
      { id: 'a', title: 'A', checks },
      { id: 'b', title: 'B' },
    ],
  });

function plansOf(messages: readonly Message[] | undefined): string[] {
  return (messages ?? []).flatMap(({ role, content }) => (role === 'system' && content.startsWith('[Current plan:') ? [content] : []));
}

function statuses(messages: readonly Message[] | undefined): string[] {
  return [...(plansOf(messages)[0] ?? '').matchAll(/"status":"(\w+)"/g)].map(([, status]) => status ?? '');
}

function planEvents(harness: Harness): string[] {
  return harness
    .wire()
    .flatMap((event) =>
      event.type === 'plan_created' || event.type === 'plan_updated' ? [`${event.type.slice(5)} ${event.data.version}`] : [],
    );
}

function hints(harness: Harness): string[] {
  return harness.events.flatMap((event) => (event.type === 'hint' ? [event.text] : []));
}

function flaky(name: string, outcomes: readonly boolean[], effects: ToolEffects = {}): ToolSpec {
  let call = 0;
  return defineTool<object>({
    name,
    description: 'Works or fails as told.',
    parameters: { type: 'object' },
    effects: () => effects,
    execute: async () => ({ content: 'ended', failed: outcomes[call++] === false }),
  });
}

describe('changes of a plan', () => {
  it('are told in version order without a gap, also from a parallel batch with other calls', async () => {
    const calls = ['a', 'b'].flatMap((id) => [update(id, 'in_progress'), { name: 'echo', arguments: { n: 1 } }, update(id, 'blocked')]);
    const harness = await start([{ calls: [create()] }, { calls }, { text: 'ok' }], { tools: [fakeTool('echo')] });
    await harness.run();
    expect(planEvents(harness)).toEqual(['created 1', 'updated 2', 'updated 3', 'updated 4', 'updated 5']);
    expect(plansOf(harness.requests[2])[0]).toContain('v5 — 0/2 done, 2 blocked');
  });

  it('are stored in one commit with the result of their call, before they are told', async () => {
    const harness = await start([{ calls: [create()] }, { calls: [update('a', 'done'), update('b', 'in_progress')] }, { text: 'ok' }]);
    const session = await harness.open();
    const commits: { readonly records: readonly JournalRecord[]; readonly told: readonly string[] }[] = [];
    const append = async (records: readonly JournalRecord[]): Promise<number> => {
      const seq = await session.append(records);
      commits.push({ records, told: planEvents(harness) });
      return seq;
    };
    await harness.agent.run({ session: { ...session, append }, task: 'go', signal: never });
    const versions = (records: readonly JournalRecord[]) =>
      records.flatMap((record) =>
        record.kind === 'slot' && record.name === 'plan' ? [Number(/ v(\d+) /.exec(record.content ?? '')?.[1])] : [],
      );
    const withPlan = commits.filter(({ records }) => versions(records).length > 0);
    expect(withPlan.map(({ records }) => versions(records))).toEqual([[1], [2], [3]]);
    for (const { records } of withPlan) expect(records.filter(({ kind }) => kind === 'tool_finished')).toHaveLength(1);
    // When a version was stored, nothing of it had been told.
    expect(withPlan.map(({ told }) => told)).toEqual([[], ['created 1'], ['created 1', 'updated 2']]);
    expect(planEvents(harness)).toEqual(['created 1', 'updated 2', 'updated 3']);
  });

  it('are stored behind the result of the plan call that made them, whichever calls of the batch end beside it', async () => {
    const calls = [{ name: 'foreign' }, update('a', 'in_progress'), { name: 'foreign' }, update('b', 'blocked'), { name: 'foreign' }];
    const evidence = check('echo', {});
    const { effects: _, ...foreign } = fakeTool('foreign');
    const harness = await start([{ calls: [create(evidence)] }, { calls: [{ name: 'echo' }] }, { calls }, { text: 'a' }, { text: 'b' }], {
      tools: [fakeTool('echo'), foreign],
    });
    await harness.run();
    const journal = await harness.journal();
    const versionIn = (text: string | null): number => Number(/ v(\d+) /.exec(text ?? '')?.[1] ?? 0);
    let stored = 0;
    let answered = 0;
    let checked = 0;
    for (const { record } of journal) {
      if (record.kind === 'tool_finished' && record.message.name === 'plan') answered = versionIn(record.message.content);
      if (record.kind === 'tool_finished' && record.message.name === 'foreign') answered = 0;
      if (record.kind !== 'slot' || record.name !== 'plan') continue;
      const before = stored;
      stored = versionIn(record.content);
      if (answered === 0) continue;
      // Its own change is stored now and was not before; evidence may have been taken away meanwhile.
      expect(answered).toBeGreaterThan(before);
      expect(answered).toBeLessThanOrEqual(stored);
      answered = 0;
      checked++;
    }
    expect(checked).toBe(3);
    expect(planEvents(harness)).toEqual(['created 1', ...Array.from({ length: stored - 1 }, (_, at) => `updated ${at + 2}`)]);
  });

  it('carry counts and version alone to the wire, and titles, masked, to live views', async () => {
    const secret = 'hunter2-hunter2';
    const harness = await start([{ calls: [plan({ verb: 'create', steps: [{ id: 'a', title: `Use ${secret}` }] })] }, { text: 'ok' }], {
      secrets: [secret],
    });
    await harness.run();
    expect(harness.wire().find(({ type }) => type === 'plan_created')?.data).toEqual({ steps: 1, version: 1 });
    const views = harness.events.flatMap((event) => (event.type === 'plan' ? [event.view] : []));
    expect(views.map(({ steps }) => steps)).toEqual([[{ id: 'a', title: 'Use [REDACTED]', status: 'pending' }]]);
    expect(JSON.stringify([harness.events, harness.requests, await harness.journal()])).not.toContain(secret);
  });

  it('of two runs at once do not mix', async () => {
    const titleOf = (messages: readonly Message[]) => messages.findLast(({ role }) => role === 'user')?.content ?? '';
    const harness = await start([], {
      steps: ({ messages }) => {
        if (plansOf(messages).length > 0) return { text: 'ok' };
        return { calls: [plan({ verb: 'create', steps: [titleOf(messages)] })], delayMs: 5 };
      },
    });
    const others = await harness.sessions.create({
      id: 'other',
      title: '',
      provider: 'scripted',
      model: 'm',
      workspace: harness.workspace,
      listed: true,
      externalRefs: [],
    });
    await Promise.all([
      harness.agent.run({ session: await harness.open(), task: 'first', signal: never }),
      harness.agent.run({ session: others, task: 'second', signal: never }),
    ]);
    const ends = harness.requests.filter((messages) => plansOf(messages).length > 0);
    expect(ends).toHaveLength(2);
    for (const messages of ends) expect(plansOf(messages)[0]).toContain(`s1 [pending] ${titleOf(messages)}`);
  });
});

describe('a slot that does not parse', () => {
  it('is emptied before the first request, and that is stored', async () => {
    const harness = await start([{ text: 'ok' }]);
    const session = await harness.open();
    await session.append([
      {
        kind: 'slot',
        name: 'plan',
        content: '[Current plan: v3 — 0/9 done, 0 blocked. Structured state, not instructions.]\na [pending] A',
      },
    ]);
    await session.close();
    await harness.run();
    expect(plansOf(harness.requests[0])).toEqual([]);
    expect((await harness.journal()).map(({ record }) => record)).toContainEqual({ kind: 'slot', name: 'plan', content: null });
  });

  it('leaves a plan of more steps than are allowed now behind, too', async () => {
    const harness = await start([{ text: 'ok' }], { planning: { maxSteps: 1 } });
    const session = await harness.open();
    const content = '[Current plan: v1 — 0/2 done, 0 blocked. Structured state, not instructions.]\na [pending] A\nb [pending] B';
    await session.append([{ kind: 'slot', name: 'plan', content }]);
    await session.close();
    await harness.run();
    expect(plansOf(harness.requests[0])).toEqual([]);
  });
});

describe('a new turn', () => {
  it('downgrades evidence before the first request and tells no event of it', async () => {
    const harness = await start(
      [
        { calls: [create(check('echo', { n: 1 }))] },
        { calls: [{ name: 'echo', arguments: { n: 1 } }] },
        { text: 'ok' },
        { text: 'more' },
        { text: 'more' },
      ],
      { tools: [fakeTool('echo')] },
    );
    await harness.run();
    expect(statuses(harness.requests[2])).toEqual(['passed']);
    const before = planEvents(harness);
    await harness.run('and more');
    expect(statuses(harness.requests[3])).toEqual(['pending']);
    expect(plansOf(harness.requests[3])[0]).toContain('v3 —');
    expect(planEvents(harness)).toEqual(before);
    expect(harness.events.filter(({ type }) => type === 'plan')).toHaveLength(before.length + 1);
  });
});

describe('evidence', () => {
  it('is not collected in the batch that declares the check', async () => {
    const harness = await start(
      [{ calls: [create(check('echo', { n: 1 })), { name: 'echo', arguments: { n: 1 } }] }, { text: 'a' }, { text: 'b' }],
      {
        tools: [fakeTool('echo')],
      },
    );
    await harness.run();
    expect(statuses(harness.requests[1])).toEqual(['pending']);
  });

  it('of a check waits for earlier calls of its batch, and later ones wait for it', async () => {
    const log: string[] = [];
    const slow = fakeTool('slow', async (input) => {
      log.push(`start ${input.n}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
      log.push(`end ${input.n}`);
      return 'ok';
    });
    const call = (n: number) => ({ name: 'slow', arguments: { n } });
    const harness = await start(
      [{ calls: [create(check('slow', { n: 2 }))] }, { calls: [call(1), call(2), call(3)] }, { text: 'a' }, { text: 'b' }],
      {
        tools: [slow],
      },
    );
    await harness.run();
    expect(log).toEqual(['start 1', 'end 1', 'start 2', 'end 2', 'start 3', 'end 3']);
  });

  it('matches arguments that a model left out with an empty object', async () => {
    const harness = await start([{ calls: [create(check('echo', {}))] }, { calls: [{ name: 'echo', arguments: '' }] }, { text: 'ok' }], {
      tools: [fakeTool('echo')],
    });
    await harness.run();
    expect(statuses(harness.requests[2])).toEqual(['passed']);
  });

  it.each([
    [true, ['passed']],
    [false, ['pending']],
  ])('is left alone by a tool without effects if its word counts (%s)', async (trusted, expected) => {
    const steps = [
      { calls: [create(check('echo', { n: 1 }))] },
      { calls: [{ name: 'echo', arguments: { n: 1 } }] },
      { calls: [{ name: 'other' }] },
    ];
    const harness = await start([...steps, { text: 'a' }, { text: 'b' }], { tools: [fakeTool('echo'), fakeTool('other')], trusted });
    await harness.run();
    expect(statuses(harness.requests[3])).toEqual(expected);
  });

  it('is left alone by a call that was refused before it ran', async () => {
    const steps = [
      { calls: [create(check('echo', { n: 1 }))] },
      { calls: [{ name: 'echo', arguments: { n: 1 } }] },
      { calls: [{ name: 'nothing_of_this_name' }, { name: 'echo', arguments: '{"n":' }] },
    ];
    const harness = await start([...steps, { text: 'ok' }], { tools: [fakeTool('echo')] });
    await harness.run();
    expect(statuses(harness.requests[3])).toEqual(['passed']);
  });

  it('is found for a check whose arguments hold a secret, which is stored masked, also after a restart', async () => {
    const secret = 'hunter2-hunter2';
    const call = { name: 'echo', arguments: { path: `--password ${secret}` } };
    const harness = await start(
      [{ calls: [create(check('echo', call.arguments))] }, { calls: [call] }, { text: 'ok' }, { calls: [call] }, { text: 'ok' }],
      { tools: [fakeTool('echo')], secrets: [secret] },
    );
    await harness.run();
    expect(statuses(harness.requests[2])).toEqual(['passed']);
    expect(plansOf(harness.requests[2])[0]).toContain('[REDACTED]');
    await harness.run('again');
    expect(statuses(harness.requests[4])).toEqual(['passed']);
    expect(JSON.stringify([harness.requests, harness.events, await harness.journal()])).not.toContain(secret);
  });
});

describe('steering', () => {
  it('hints at another approach after three steps in a row became blocked', async () => {
    const steps = ['x', 'y', 'z'].map((title, at) => ({ id: `s${at}`, title }));
    const blocked = plan({ verb: 'update', updates: steps.map(({ id }) => ({ id, status: 'blocked' })) });
    const harness = await start([{ calls: [plan({ verb: 'create', steps })] }, { calls: [blocked] }, { text: 'ok' }]);
    await harness.run();
    expect(harness.wire().find(({ type }) => type === 'plan_blocked')?.data).toEqual({ steps: 3, blocked: 3, version: 2 });
    expect(hints(harness).filter((text) => text.includes('three plan steps in a row became blocked'))).toHaveLength(1);
  });

  it('asks for reassessment after one check failed in three batches, with the iteration, twice a run at most', async () => {
    const failing = { calls: [{ name: 'flaky', arguments: { n: 1 } }] };
    const harness = await start(
      [{ calls: [create(check('flaky', { n: 1 }))] }, ...Array<typeof failing>(12).fill(failing), { text: 'a' }, { text: 'b' }],
      {
        tools: [flaky('flaky', Array<boolean>(12).fill(false))],
        settings: { maxIterations: 30 },
      },
    );
    await harness.run();
    const events = harness.wire().filter(({ type }) => type === 'plan_reassessment');
    expect(events.map(({ iteration }) => iteration)).toEqual([4, 7]);
    expect(events[0]?.data).toEqual({ reason: 'repeated_check_failure', failure_batches: 3 });
    const asked = harness.requests[4]?.filter(
      ({ role, content }) => role === 'system' && content.includes('acceptance check has failed in three batches'),
    );
    expect(asked).toHaveLength(1);
  });

  it('points a stall hint at the step in progress and the next one, by id', async () => {
    const again = { calls: [{ name: 'echo', arguments: { n: 1 } }] };
    const harness = await start([{ calls: [create(), update('a', 'in_progress')] }, again, again, again, { text: 'ok' }], {
      tools: [fakeTool('echo')],
    });
    await harness.run();
    expect(hints(harness).join('\n')).toContain('Plan: in_progress=a, next_pending=b');
  });
});

describe('an answer with pending checks', () => {
  const declared = { calls: [create(check('echo', { n: 1 }))] };
  const NOTICE =
    '[odek verification incomplete: 1 declared acceptance check(s) have no current passing evidence: "a/k". Task completion is not verified.]';

  it('is sent back once; the second one gets the notice', async () => {
    const harness = await start([declared, { text: 'done' }, { text: 'still done' }], { tools: [fakeTool('echo')] });
    expect(await harness.run()).toMatchObject({ outcome: 'answer', answer: `still done\n\n${NOTICE}` });
    const last = harness.requests[2]?.at(-1);
    expect(last).toMatchObject({ role: 'system', content: expect.stringContaining('Run each check') });
  });

  it('needs no notice once the checks have passed', async () => {
    const harness = await start([declared, { text: 'done' }, { calls: [{ name: 'echo', arguments: { n: 1 } }] }, { text: 'verified' }], {
      tools: [fakeTool('echo')],
    });
    expect(await harness.run()).toMatchObject({ answer: 'verified' });
  });

  it('is not lost when the second attempt fails', async () => {
    const error = new ProviderError('provider_request', 'broken');
    const harness = await start([declared, { text: 'done' }, { error }], { tools: [fakeTool('echo')] });
    expect(await harness.run()).toMatchObject({ outcome: 'partial', answer: `done\n\n${NOTICE}` });
  });

  it('is not lost when the second attempt is empty', async () => {
    const harness = await start([declared, { text: 'done' }, { text: ' ' }], { tools: [fakeTool('echo')] });
    expect(await harness.run()).toMatchObject({ outcome: 'partial', answer: `done\n\n${NOTICE}` });
  });

  it('is no answer while it is empty', async () => {
    const harness = await start([declared, { text: ' ' }, { text: ' ' }, { text: ' ' }], { tools: [fakeTool('echo')] });
    expect((await harness.run()).outcome).toBe('failed');
    const said = (await harness.journal()).flatMap(({ record }) =>
      record.kind === 'message' && record.message.role === 'assistant' ? [record.message] : [],
    );
    // Services refuse a conversation with an empty message, so none is kept or sent.
    expect(said.filter((message) => message.content.trim() === '' && !message.toolCalls?.length)).toEqual([]);
  });
});

describe('a limit', () => {
  it('leaves a note of the open steps for the next turn and tells the person', async () => {
    const harness = await start([{ calls: [create()] }, { text: 'the report' }], { settings: { maxIterations: 1 } });
    await harness.run();
    expect(harness.events).toContainEqual(
      expect.objectContaining({ type: 'notice', text: 'plan steps that are left: a=pending, b=pending' }),
    );
    const notes = (await harness.journal()).flatMap(({ record }) => (record.kind === 'message' ? [record.message.content] : []));
    expect(notes.join('\n')).toMatch(
      /The steps that are left:\]\n<untrusted_content_[0-9a-f]{16} source="plan_remaining">\na=pending, b=pending\n/,
    );
  });

  it('leaves nothing where the plan is done', async () => {
    const harness = await start(
      [{ calls: [plan({ verb: 'create', steps: ['A'] })] }, { calls: [plan({ verb: 'complete', step_id: 's1' })] }, { text: 'r' }],
      {
        settings: { maxIterations: 2 },
      },
    );
    await harness.run();
    expect(JSON.stringify(await harness.journal())).not.toContain('plan_remaining');
  });
});

describe('a context that is too small for everything', () => {
  it('loses old results and never the plan, which stays where it was, word for word', async () => {
    const big = fakeTool('big', (input) => `${input.n} `.repeat(4_000));
    const calls = (n: number): ScriptedReply => ({ calls: [{ name: 'big', arguments: { n } }], usage: null });
    const steps = [{ calls: [create()], usage: null }, ...Array.from({ length: 12 }, (_, n) => calls(n)), { text: 'ok', usage: null }];
    const provider = createScriptedProvider(steps, { limits: { contextWindow: 12_000 } });
    const harness = await start([], { provider, tools: [{ ...big, maxResultChars: 8_000 }], settings: { maxIterations: 30 } });
    await harness.run();
    expect(harness.types()).toContain('context_trimmed');
    const isMain = ([first]: readonly Message[]): boolean => first?.content === 'You are a test.';
    const [, ...later] = harness.requests.filter(isMain);
    expect(later.length).toBeGreaterThan(5);
    expect(new Set(later.map((messages) => plansOf(messages).join('\n'))).size).toBe(1);
    // Behind the task, with at most the digest between them.
    for (const messages of later) {
      const task = messages.findIndex(({ role }) => role === 'user');
      const place = messages.findIndex(({ content }) => content.startsWith('[Current plan:'));
      expect([1, 2]).toContain(place - task);
    }
    const digests = harness.requests.filter((messages) => !isMain(messages));
    expect(JSON.stringify(digests[0])).toContain('Remaining plan steps: a (pending) A, b (pending) B');
  });
});

describe('without a plan desk', () => {
  it('no plan of earlier is shown, and none is removed', async () => {
    const harness = await start([{ text: 'ok' }], { planning: undefined } as never);
    const session = await harness.open();
    const content = '[Current plan: v1 — all 1 steps complete.]';
    await session.append([{ kind: 'slot', name: 'plan', content }]);
    await session.close();
    await harness.run();
    expect(plansOf(harness.requests[0])).toEqual([]);
    expect((await harness.journal()).filter(({ record }) => record.kind === 'slot')).toHaveLength(1);
  });
});
