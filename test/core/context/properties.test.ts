import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateRequest } from '../../../core/budget/estimate.ts';
import { layoutOf } from '../../../core/context/layout.ts';
import type { Transcript } from '../../../core/transcript/transcript.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { Message } from '../../../ports/message.ts';
import { createWorkbench, isWellFormed, type ScriptedCall, type Workbench } from './workbench.ts';

type Step =
  | { readonly kind: 'user' | 'answer' | 'hint'; readonly size: number }
  | { readonly kind: 'batch'; readonly text: number; readonly calls: readonly { readonly size: number; readonly failed: boolean }[] }
  | { readonly kind: 'plan' | 'memory'; readonly size: number | undefined }
  | { readonly kind: 'think' | 'refused' | 'restart' };

const size = fc.oneof(fc.nat(200), fc.nat(3_000), fc.nat(5_000));
const slotSize = fc.option(fc.nat(800), { nil: undefined });

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('user', 'answer', 'hint'), size: fc.nat(3_000) }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('batch'),
      text: fc.nat(300),
      calls: fc.array(fc.record({ size, failed: fc.boolean() }), { minLength: 1, maxLength: 6 }),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('plan', 'memory'), size: slotSize }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('think') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('refused', 'restart') }) },
) as fc.Arbitrary<Step>;

const scenario = fc.record({
  window: fc.option(fc.oneof(fc.integer({ min: 1, max: 3_000 }), fc.integer({ min: 3_000, max: 40_000 })), { nil: undefined, freq: 5 }),
  compaction: fc.boolean(),
  system: fc.nat(400),
  task: fc.nat(400),
  steps: fc.array(step, { minLength: 1, maxLength: 40 }),
});

const filler = (length: number, mark: string): string =>
  `${mark} ${'word '.repeat(Math.ceil(length / 5))}`.slice(0, Math.max(length, mark.length));

const isSlot = (message: Message | undefined, begin: string): boolean => message?.role === 'system' && message.content.startsWith(begin);

/** What must be the same after whatever was trimmed. */
interface Protected {
  readonly system: Message | undefined;
  readonly task: Message | undefined;
  readonly plan: string | undefined;
  readonly memory: string | undefined;
  readonly newestUser: Message | undefined;
  readonly newestTurn: readonly Message[];
}

function protectedOf({ state }: Workbench): Protected {
  const { messages, entries, slot } = state.transcript;
  return {
    system: messages[0],
    task: messages.find((message) => message.role === 'user'),
    plan: slot('plan'),
    memory: slot('memory'),
    newestUser: messages.findLast((message) => message.role === 'user'),
    newestTurn: messages.slice(layoutOf(entries).newestTurn),
  };
}

/** System prompt, memory, [warning], task, digest, plan: each where it belongs. */
function checkHead(bench: Workbench): void {
  const messages = bench.messages();
  const { slot } = bench.state.transcript;
  const task = messages.findIndex((message) => message.role === 'user');
  let at = task;
  for (const name of ['digest', 'plan'] as const) if (slot(name) !== undefined) expect(messages[++at]?.content).toBe(slot(name));
  if (slot('memory') !== undefined) expect(messages[1]?.content).toBe(slot('memory'));
  expect(messages.filter((message) => isSlot(message, '[Context trimmed')).length).toBeLessThanOrEqual(1);
  expect(messages.filter((message) => isSlot(message, '[Compacted earlier context:')).length).toBeLessThanOrEqual(1);
  if (slot('warning') !== undefined) {
    const newestUser = messages.findLastIndex((message) => message.role === 'user');
    expect(messages[newestUser - 1]?.content).toBe(slot('warning'));
  }
}

async function checkInvariants(bench: Workbench, before: Protected): Promise<void> {
  expect(isWellFormed(bench.messages())).toBe(true);
  checkHead(bench);
  const { newestTurn, ...head } = protectedOf(bench);
  const { newestTurn: earlierTurn, ...earlierHead } = before;
  expect(head).toEqual(earlierHead);
  const tail = bench.messages().slice(-newestTurn.length);
  expect(tail.map(({ role }) => role)).toEqual(newestTurn.map(({ role }) => role));
  expect(newestTurn.slice(0, earlierTurn.length).map(({ role }) => role)).toEqual(earlierTurn.map(({ role }) => role));
  expect(await bench.resumed()).toEqual(bench.messages());
}

const sumTokens = (messages: readonly Message[]): number => estimateRequest(messages, []);

async function thinkAndCheck(bench: Workbench, window: number | undefined): Promise<void> {
  const before = protectedOf(bench);
  const budget = Math.floor((window ?? 0) * 0.75);
  const tokensBefore = bench.tokens();
  let error: unknown;
  await bench.think().catch((thrown: unknown) => {
    error = thrown;
  });
  await checkInvariants(bench, before);
  const stored = (await bench.journal()).length;
  const messages = bench.messages();
  if (window === undefined || tokensBefore <= budget) {
    expect(error).toBeUndefined();
    if (window === undefined) expect(bench.tokens()).toBe(tokensBefore);
  } else if (error === undefined) {
    expect(bench.tokens()).toBeLessThanOrEqual(window);
    // Above the budget only where nothing may be dropped.
    if (bench.tokens() > budget) expect(layoutOf(bench.state.transcript.entries).groups).toEqual([]);
    const after = bench.messages().slice(-before.newestTurn.length);
    const cut = sumTokens(before.newestTurn) - sumTokens(after);
    // The newest turn is cut only where it would not fit the window by any other means.
    if (cut > 0) expect(bench.tokens() + cut).toBeGreaterThan(window);
    else expect(after).toEqual(before.newestTurn);
  } else {
    expect(hasCode(error, 'context_length')).toBe(true);
    expect(error).toMatchObject({ value: bench.tokens(), limit: window });
    expect(bench.tokens()).toBeGreaterThan(window);
    expect(layoutOf(bench.state.transcript.entries).groups).toEqual([]);
  }
  // Twice is once.
  await bench.think().catch((thrown: unknown) => {
    if (error === undefined) throw thrown;
  });
  expect(bench.messages()).toEqual(messages);
  expect((await bench.journal()).length).toBe(stored);
}

async function refuseAndCheck(bench: Workbench): Promise<void> {
  const before = protectedOf(bench);
  const tokens = bench.tokens();
  const stored = (await bench.journal()).length;
  const shrank = await bench.stage.onTooLong?.(bench.state);
  if (shrank) expect(bench.tokens()).toBeLessThan(tokens);
  else expect((await bench.journal()).length).toBe(stored);
  await checkInvariants(bench, before);
}

async function play(bench: Workbench, each: Step, number: number, window: number | undefined): Promise<Workbench> {
  const mark = `#${number}`;
  switch (each.kind) {
    case 'user':
      await bench.say({ role: 'user', content: filler(each.size, mark) });
      return bench;
    case 'answer':
      await bench.say({ role: 'assistant', content: filler(each.size, mark) });
      return bench;
    case 'hint':
      await bench.say({ role: 'system', content: filler(each.size, mark) });
      return bench;
    case 'plan':
    case 'memory':
      await bench.slot(each.kind, each.size === undefined ? undefined : filler(each.size, `${each.kind} ${mark}`));
      return bench;
    case 'batch': {
      const calls = each.calls.map(({ size: length, failed }, index): ScriptedCall => {
        return {
          name: `tool${index}`,
          arguments: { path: `${number}/${index}` },
          result: filler(length, mark),
          ...(failed && { outcome: 'failed' }),
        };
      });
      await bench.batch(calls, filler(each.text, ''));
      return bench;
    }
    case 'restart':
      return bench.restart();
    case 'refused':
      await refuseAndCheck(bench);
      return bench;
    case 'think':
      await thinkAndCheck(bench, window);
      return bench;
  }
}

describe('trimming, for any conversation and any window', () => {
  it('sends what is well formed, with head and newest turn intact, that fits or is refused with the reason; twice is once; a resume sends the same', async () => {
    await fc.assert(
      fc.asyncProperty(scenario, async ({ window, compaction, system, task, steps }) => {
        let bench = await createWorkbench({ compaction, ...(window !== undefined && { window }) });
        await bench.say({ role: 'system', content: filler(system, 'system') });
        await bench.say({ role: 'user', content: filler(task, 'task') });
        for (const [number, each] of steps.entries()) bench = await play(bench, each, number, window);
        await thinkAndCheck(bench, window);
      }),
      { numRuns: 500 },
    );
  }, 15_000);
});

/** Counts how often a message of the transcript is looked at. */
function counting(transcript: Transcript): { transcript: Transcript; looks: () => number } {
  let looks = 0;
  const watch = <T extends object>(list: T): T =>
    new Proxy(list, {
      get(target, key, receiver) {
        if (typeof key === 'string' && /^\d+$/.test(key)) looks += 1;
        return Reflect.get(target, key, receiver) as unknown;
      },
    });
  const watched: Transcript = {
    ...transcript,
    messages: watch(transcript.messages),
    entries: watch(transcript.entries),
    get tokens() {
      return transcript.tokens;
    },
  };
  return { transcript: watched, looks: () => looks };
}

describe('the cost of an iteration', () => {
  it('does not depend on how much was trimmed before', async () => {
    const bench = await createWorkbench({ window: 12_000 });
    await bench.say({ role: 'system', content: 'system' });
    await bench.say({ role: 'user', content: 'task' });
    const { transcript, looks } = counting(bench.state.transcript);
    const state = { ...bench.state, transcript };
    const written = async (): Promise<number> =>
      JSON.stringify((await bench.journal()).filter(({ record }) => record.kind !== 'message')).length;
    const cost = async (iterations: number): Promise<{ looks: number; bytes: number }> => {
      const before = { looks: looks(), bytes: await written() };
      for (let at = 0; at < iterations; at += 1) {
        await bench.batch([{ name: 'read', arguments: { path: `file-${bench.state.iteration}` }, result: filler(3_000, 'r') }]);
        await bench.stage.beforeThink?.(state);
      }
      return { looks: looks() - before.looks, bytes: (await written()) - before.bytes };
    };
    await cost(200);
    const early = await cost(200);
    await cost(1_000);
    const late = await cost(200);
    expect(early.looks).toBeGreaterThan(200);
    expect(late.looks).toBeLessThanOrEqual(early.looks * 1.1);
    expect(late.bytes).toBeLessThanOrEqual(early.bytes * 1.1);
  }, 60_000);

  it('looks at no message while there is room', async () => {
    const bench = await createWorkbench({ window: 1_000_000 });
    await bench.say({ role: 'user', content: 'task' });
    const { transcript, looks } = counting(bench.state.transcript);
    for (let at = 0; at < 50; at += 1) {
      await bench.batch([{ name: 'read', result: filler(3_000, 'r') }]);
      await bench.stage.beforeThink?.({ ...bench.state, transcript });
    }
    expect(looks()).toBe(0);
  });
});
