import { afterEach, describe, expect, it } from 'vitest';
import { estimateRequest } from '../../../core/budget/estimate.ts';
import { ProviderError, type ProviderErrorCode } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import type { StoredRecord } from '../../../ports/session.ts';
import { createScriptedProvider } from '../../fakes/llm.ts';
import { createHarness, fakeTool, type Harness } from '../agent/harness.ts';
import { countCommits } from './commits.ts';
import { createWorkbench, isWellFormed, type Workbench } from './workbench.ts';

const text = (bytes: number, mark = 'x'): string => `${mark} `.padEnd(bytes, '.');

async function started(options: Parameters<typeof createWorkbench>[0]): Promise<Workbench> {
  const bench = await createWorkbench(options);
  await bench.say({ role: 'system', content: 'You are a test.' });
  await bench.say({ role: 'user', content: 'the task' });
  return bench;
}

async function read(bench: Workbench, times: number, bytes = 3_000): Promise<void> {
  for (let at = 0; at < times; at += 1) {
    const path = `file-${bench.state.iteration}`;
    await bench.batch([{ name: 'read_file', arguments: { path }, result: text(bytes, path) }]);
  }
}

const kinds = (records: readonly StoredRecord[]): readonly string[] =>
  records.map(({ record }) => (record.kind === 'slot' ? `slot ${record.name}` : record.kind));

const trims = (bench: Workbench): number => bench.events.filter((event) => event.type === 'context_trimmed').length;

describe('before a request', () => {
  it('shortens old results first, tells the model and the listeners, and drops nothing when that is enough', async () => {
    const bench = await started({ window: 10_000 });
    await read(bench, 10);
    await bench.think();
    expect(bench.events).toContainEqual({
      type: 'context_trimmed',
      iteration: bench.state.iteration,
      data: { mode: 'proactive', dropped_groups: 0, truncated_results: 6 },
    });
    expect(bench.events).toContainEqual(
      expect.objectContaining({
        type: 'signal',
        name: 'context_trimmed',
        detail: 'proactive: 0 message groups dropped, 6 tool results shortened',
      }),
    );
    expect(bench.messages()[1]?.content).toMatch(/^\[Context trimmed: 0 message groups dropped, 6 tool results shortened/);
    expect(bench.state.transcript.slot('digest')).toBeUndefined();
    expect(
      bench.messages().filter((message) => message.content === '[tool output trimmed: 3000 bytes dropped to fit context budget]').length,
    ).toBe(6);
  });

  it('drops the oldest groups into a digest when that is not enough, all in one commit', async () => {
    const bench = await started({ window: 6_000 });
    await read(bench, 30, 1_900);
    const before = (await bench.journal()).length;
    const commits = countCommits(bench.state.journal);
    await bench.think();
    expect(kinds((await bench.journal()).slice(before))).toEqual(['view', 'slot digest', 'slot warning']);
    expect(commits()).toBe(1);
    const [system, warning, task, digest, next] = bench.messages();
    expect(system?.content).toBe('You are a test.');
    expect(warning?.content).toMatch(/^\[Context trimmed: \d+ message groups dropped \(calls of read_file\)/);
    expect(task?.content).toBe('the task');
    expect(digest?.content).toMatch(/^\[Compacted earlier context:.*\]\n<untrusted_content_[0-9a-f]{16} source="compaction">\nDone:\n/);
    expect(digest?.content).toContain('- read_file file-0\n');
    expect(next?.role).toBe('assistant');
    expect(bench.tokens()).toBeLessThanOrEqual(6_000 * 0.75 * 0.5);
    expect(await bench.resumed()).toEqual(bench.messages());
  });

  it('counts on in the one warning, in its place', async () => {
    const bench = await started({ window: 6_000 });
    for (let at = 0; at < 60; at += 1) {
      await read(bench, 1, 1_900);
      await bench.think();
    }
    const warnings = bench.messages().filter((message) => message.content.startsWith('[Context trimmed'));
    const dropped = bench.events.reduce((sum, event) => sum + (event.type === 'context_trimmed' ? event.data.dropped_groups : 0), 0);
    expect(trims(bench)).toBeGreaterThan(3);
    expect(warnings.map(({ content }) => content.slice(0, 60))).toEqual([expect.stringContaining(` ${dropped} message groups dropped`)]);
    expect(bench.messages()[1]).toBe(warnings[0]);
  });

  it('trims in steps: many iterations pass before the prefix changes again', async () => {
    const bench = await started({ window: 32_768 });
    let changes = 0;
    for (let at = 0; at < 200; at += 1) {
      await read(bench, 1, 2_500);
      const before = bench.messages();
      await bench.think();
      if (bench.messages().some((message, index) => index < before.length && message !== before[index])) changes += 1;
    }
    expect(changes).toBe(trims(bench));
    expect(changes).toBeGreaterThan(3);
    expect(changes).toBeLessThan(200 / 15);
  });

  it.each([undefined, 0])('never trims for a window of %s', async (window) => {
    const bench = await started({ ...(window !== undefined && { window }) });
    await read(bench, 100, 20_000);
    await bench.think();
    expect(trims(bench)).toBe(0);
  });

  it('counts the tools it sends as well', async () => {
    const plain = await started({ window: 10_000 });
    const heavy = await started({ window: 10_000 });
    heavy.state.deps.tools.registrar('test').register({ ...fakeTool('big'), description: text(8_000) });
    for (const bench of [plain, heavy]) {
      await read(bench, 7);
      await bench.think();
    }
    expect([trims(plain), trims(heavy)]).toEqual([0, 1]);
  });

  it('keeps a smaller share once the model counted far more than the estimate, for as long as the provider lives', async () => {
    const bench = await started({ window: 10_000 });
    await read(bench, 8);
    bench.state.lastCall = { estimated: 1_000, reported: 1_150 };
    await bench.think();
    expect(trims(bench)).toBe(0);
    bench.state.lastCall = { estimated: 1_000, reported: 1_151 };
    await bench.think();
    const calibrations = (of: Workbench): number =>
      of.events.filter((event) => event.type === 'signal' && event.detail === 'margin_calibrated').length;
    expect(calibrations(bench)).toBe(1);
    expect(trims(bench)).toBe(1);
    await bench.think();
    expect(calibrations(bench)).toBe(1);
    const later = await bench.restart();
    await read(later, 5);
    await later.think();
    expect(trims(later)).toBe(1);
  });

  it('cuts the newest results only when the request would not fit the window by any other means', async () => {
    const bench = await started({ window: 10_000 });
    await read(bench, 1, 30_500);
    await bench.think();
    expect(bench.tokens()).toBeGreaterThan(7_500);
    expect(trims(bench)).toBe(0);
    await read(bench, 1, 41_000);
    await bench.think();
    expect(bench.messages().at(-1)?.content).toBe('[tool output trimmed: 41000 bytes dropped to fit context budget]');
  });

  it('says what takes the room when nothing is left to trim', async () => {
    const bench = await started({ window: 10_000 });
    await bench.slot('plan', text(50_000));
    await expect(bench.think()).rejects.toMatchObject({ code: 'context_length', value: bench.tokens(), limit: 10_000 });
    await expect(bench.think()).rejects.toThrow(/take about \d+ tokens and the tools 0, the window is 10000 \(llm\.context_window\)/);
  });
});

describe('a request that was refused as too long', () => {
  const refuse = async (bench: Workbench): Promise<boolean | undefined> => bench.stage.onTooLong?.(bench.state);

  it('is made small at once, whatever the window is said to be', async () => {
    const bench = await started({});
    await read(bench, 10);
    await bench.slot('plan', 'the plan');
    const last = bench.messages().slice(-4);
    expect(await refuse(bench)).toBe(true);
    const messages = bench.messages();
    expect(messages.map(({ role }) => role)).toEqual('system system user system system assistant tool assistant tool system'.split(' '));
    expect(messages[1]?.content).toMatch(/^\[Context trimmed to survive: 8 message groups dropped/);
    expect(messages[3]?.content).toContain('[Compacted earlier context:');
    expect(messages[4]?.content).toBe('the plan');
    expect(messages.slice(5, 9)).toEqual(last);
    expect(messages[9]?.content).toMatch(/^\[Context survival mode: /);
    expect(bench.events).toContainEqual(
      expect.objectContaining({ type: 'context_trimmed', data: { mode: 'survival', dropped_groups: 8, truncated_results: 0 } }),
    );
    expect(await bench.resumed()).toEqual(messages);
  });

  it('loses the text of its results next, and then there is nothing left to try', async () => {
    const bench = await started({});
    await read(bench, 3);
    const tries: (boolean | undefined)[] = [];
    const sizes: number[] = [];
    for (let at = 0; at < 4; at += 1) {
      tries.push(await refuse(bench));
      sizes.push(bench.tokens());
    }
    expect(tries).toEqual([true, true, true, false]);
    expect(sizes[1]).toBeLessThan(sizes[0] ?? 0);
    expect(sizes[2]).toBeLessThan(sizes[1] ?? 0);
    expect(sizes[3]).toBe(sizes[2]);
    expect(isWellFormed(bench.messages())).toBe(true);
  });

  it('is given up when it has three messages or fewer, or when nothing would shrink', async () => {
    const short = await started({});
    await short.say({ role: 'assistant', content: text(9_000) });
    expect(await refuse(short)).toBe(false);
    const small = await started({});
    await small.batch([{ name: 't', result: 'ok' }]);
    await small.batch([{ name: 't', result: 'ok' }]);
    await small.batch([{ name: 't', result: 'ok' }]);
    const before = (await small.journal()).length;
    expect(await refuse(small)).toBe(false);
    expect((await small.journal()).length).toBe(before);
  });
});

describe('in the loop', () => {
  let harness: Harness;
  afterEach(() => harness.close());

  /** A model that refuses what is larger than `limit` estimated tokens, and answers after `reads` reads. */
  function refusing(limit: number, reads: number, code: ProviderErrorCode = 'context_length') {
    let done = 0;
    return createScriptedProvider((request) => {
      if (estimateRequest(request.messages, request.tools) > limit) return { error: new ProviderError(code, 'prompt is too long') };
      if (request.tools.length === 0) return { text: 'Done:\n- much' };
      done += 1;
      return done > reads ? { text: 'the answer' } : { calls: [{ name: 'read', arguments: { n: done } }] };
    });
  }

  it('survives refusals and ends with the answer; each costs an iteration', async () => {
    harness = await createHarness({
      provider: refusing(4_000, 12),
      tools: [fakeTool('read', () => text(3_000))],
      settings: { maxIterations: 40 },
    });
    const result = await harness.run();
    const refused = harness.events.filter((event) => event.type === 'context_trimmed').length;
    expect(result).toMatchObject({ outcome: 'answer', answer: 'the answer', iterations: 13 + refused });
    expect(refused).toBeGreaterThan(1);
    expect(harness.wire().filter(({ type }) => type === 'context_trimmed').length).toBe(refused);
    expect(harness.requests.every(isWellFormed)).toBe(true);
  });

  it('fails with the refusal when nothing can be made smaller', async () => {
    harness = await createHarness({ provider: refusing(10, 1) });
    expect(await harness.run()).toMatchObject({ outcome: 'failed', error: { code: 'context_length', message: 'prompt is too long' } });
  });

  it('goes on after a later turn with the view, the digest and the counts of the earlier one', async () => {
    harness = await createHarness({
      provider: refusing(4_000, 12),
      tools: [fakeTool('read', () => text(3_000))],
      settings: { maxIterations: 40 },
    });
    await harness.run('first');
    await harness.run('second');
    const last = harness.requests.at(-1) as readonly Message[];
    expect(last.filter(({ role }) => role === 'user').map(({ content }) => content)).toEqual(['first', 'second']);
    const second = last.findIndex(({ content }) => content === 'second');
    expect(last[second - 1]?.content).toMatch(/^\[Context trimmed to survive: /);
    expect(last[2]?.content).toContain('[Compacted earlier context:');
  });
});
