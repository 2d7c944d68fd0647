import { afterEach, describe, expect, it } from 'vitest';
import type { VerifySettings } from '../../../core/agent/settings.ts';
import { UNVERIFIED_PREFIX, verifySettings } from '../../../core/verification/verification-stage.ts';
import type { ModelRequest } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import { createScriptedProvider, type ScriptedReply, type ScriptedStep } from '../../fakes/llm.ts';
import { createHarness, fakeTool, type Harness, type HarnessOptions } from '../agent/harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const VERIFY: VerifySettings = { mode: 'hint', maxCycles: 1, maxTokens: 200 };
const isJudging = (request: ModelRequest): boolean =>
  request.tools.length === 0 && String(request.messages[0]?.content).startsWith('You judge');

interface Script {
  readonly answers: readonly ScriptedReply[];
  readonly verdicts: readonly ScriptedReply[];
}

interface Judged extends Harness {
  readonly judged: ModelRequest[];
}

/** One script for the agent, one for the judge. */
async function start(
  { answers, verdicts }: Script,
  options: HarnessOptions & { readonly verify?: Partial<VerifySettings> } = {},
): Promise<Judged> {
  const judged: ModelRequest[] = [];
  let answered = 0;
  const reply = async (request: ModelRequest): Promise<ScriptedStep> => {
    const judging = isJudging(request);
    if (judging) judged.push(request);
    const step = judging ? verdicts[judged.length - 1] : answers[answered++];
    if (step === undefined) throw new Error(`no ${judging ? 'verdict' : 'answer'} is left`);
    return typeof step === 'function' ? step(request, 0) : step;
  };
  const { verify, settings, ...rest } = options;
  const run = await createHarness({
    tools: [fakeTool('look')],
    provider: createScriptedProvider(reply),
    ...rest,
    settings: { ...settings, verify: { ...VERIFY, ...verify } },
  });
  harness = run;
  return Object.assign(run, { judged });
}

const pass = { text: '{"verdict":"pass"}' };
const fail = { text: '{"verdict":"fail","reasons":["the file was never read"],"missing":["a test"]}' };
const verdicts = (run: Harness) => run.wire().flatMap((event) => (event.type === 'verification_completed' ? [event.data] : []));

describe('the verification pass', () => {
  it('is off unless it is asked for', async () => {
    harness = await createHarness({ steps: [{ text: 'hello' }] });
    expect(await harness.run()).toMatchObject({ answer: 'hello', outcome: 'answer' });
    expect(harness.types()).not.toContain('verification_started');
  });

  it('ships an answer that passes as it is', async () => {
    const run = await start({ answers: [{ calls: [{ name: 'look' }] }, { text: 'hello' }], verdicts: [pass] });
    expect(await run.run('greet')).toMatchObject({ answer: 'hello', outcome: 'answer', iterations: 2 });
    const told = run.wire().filter(({ type }) => type.startsWith('verification_'));
    expect(told).toEqual([
      expect.objectContaining({ type: 'verification_started', iteration: 2, data: { cycle: 1 } }),
      expect.objectContaining({ type: 'verification_completed', iteration: 2, data: { cycle: 1, verdict: 'pass' } }),
    ]);
  });

  it('asks without tools, without thinking, within its own cap, in the model that was chosen', async () => {
    const run = await start({ answers: [{ text: 'hello' }], verdicts: [pass] }, { verify: { model: 'judge' } });
    await run.run('greet');
    expect(run.judged[0]).toMatchObject({ tools: [], thinking: 'disabled', maxTokens: 200, model: 'judge', stream: false });
    const usage = (await run.journal()).flatMap(({ record }) => (record.kind === 'usage' ? [record] : []));
    expect(usage.map(({ purpose, model }) => [purpose, model])).toEqual([
      ['side', 'judge'],
      ['main', 'test-model'],
    ]);
  });

  it('sends a failing answer back with the findings as data, and ships the next one', async () => {
    const run = await start({ answers: [{ text: 'draft' }, { calls: [{ name: 'look' }] }, { text: 'better' }], verdicts: [fail, pass] });
    expect(await run.run('greet')).toMatchObject({ answer: 'better', outcome: 'answer', iterations: 3 });
    const hint = run.events.find((event) => event.type === 'hint');
    expect(hint?.type === 'hint' && hint.text.replace(/[0-9a-f]{16}/g, 'N')).toMatch(
      /^\[odek: an independent check.*\]\n<untrusted_content_N source="verification">\n- the file was never read\n- missing: a test\n<\/untrusted_content_N>$/,
    );
    expect(verdicts(run)).toEqual([
      { cycle: 1, verdict: 'fail' },
      { cycle: 2, verdict: 'pass' },
    ]);
    const contents = (await run.journal()).flatMap(({ record }) => (record.kind === 'message' ? [record.message.content] : []));
    expect(contents).toContain('draft');
  });

  it.each([1, 2, 3])('marks the answer once %i were sent back in vain', async (maxCycles) => {
    const tries = Array.from({ length: maxCycles + 1 }, (_, at) => ({ text: `try ${at + 1}` }));
    const run = await start({ answers: tries, verdicts: tries.map(() => fail) }, { verify: { maxCycles } });
    const result = await run.run('greet');
    expect(result).toMatchObject({ answer: `${UNVERIFIED_PREFIX}\n\ntry ${maxCycles + 1}`, outcome: 'answer', iterations: maxCycles + 1 });
    expect(verdicts(run)).toHaveLength(maxCycles + 1);
  });

  it('marks a failing answer at once in strict mode', async () => {
    const run = await start({ answers: [{ text: 'draft' }], verdicts: [fail] }, { verify: { mode: 'strict' } });
    expect(await run.run('greet')).toMatchObject({ answer: `${UNVERIFIED_PREFIX}\n\ndraft`, iterations: 1 });
  });

  it('does not judge an answer that was cut', async () => {
    const run = await start({ answers: [{ text: 'half', finish: 'length' }], verdicts: [] });
    expect(await run.run('greet')).toMatchObject({ answer: 'half', outcome: 'partial' });
    expect(run.judged).toEqual([]);
  });
});

describe('an answer is not lost', () => {
  it.each([
    ['says nothing of use', { text: 'I think it is fine' }],
    ['asks for tools', { calls: [{ name: 'look' }] }],
    ['fails', { error: new ProviderError('provider_unavailable', 'down') }],
    ['hangs past its time limit', { hang: true }],
  ])('when the judge %s', async (_name, verdict) => {
    const run = await start({ answers: [{ text: 'hello' }], verdicts: [verdict] }, { settings: { sideCallTimeoutMs: 50 } });
    expect(await run.run('greet')).toMatchObject({ answer: 'hello', outcome: 'answer' });
    expect(verdicts(run)).toEqual([{ cycle: 1, verdict: 'unavailable' }]);
  });

  it.each([
    ['output', { max_output_tokens: 100 }],
    ['input', { max_input_tokens: 200 }],
  ])('when the %s budget cannot cover the judge', async (_name, limits) => {
    const run = await start({ answers: [{ text: 'hello' }], verdicts: [] }, { settings: { limits } });
    expect(await run.run('greet')).toMatchObject({ answer: 'hello', outcome: 'answer' });
    expect(verdicts(run)).toEqual([{ cycle: 1, verdict: 'skipped: budget' }]);
  });

  it('when the run is cancelled while the judge thinks', async () => {
    const stop = new AbortController();
    const interrupt = (): ScriptedStep => {
      stop.abort();
      return { hang: true };
    };
    const run = await start({ answers: [{ text: 'hello' }], verdicts: [interrupt] });
    expect(await run.run('greet', stop.signal)).toMatchObject({ answer: 'hello' });
    const contents = (await run.journal()).flatMap(({ record }) => (record.kind === 'message' ? [record.message.content] : []));
    expect(contents).toContain('hello');
  });

  it('when there is no iteration left for another one', async () => {
    const run = await start({ answers: [{ text: 'hello' }], verdicts: [fail] }, { settings: { maxIterations: 1 } });
    expect(await run.run('greet')).toMatchObject({ answer: `${UNVERIFIED_PREFIX}\n\nhello`, outcome: 'answer' });
  });

  it('when the second attempt fails', async () => {
    const down = new ProviderError('provider_unavailable', 'down');
    const run = await start({ answers: [{ text: 'hello' }, { error: down }], verdicts: [fail] });
    expect(await run.run('greet')).toMatchObject({ answer: `${UNVERIFIED_PREFIX}\n\nhello`, outcome: 'partial' });
    expect(run.events).toContainEqual(expect.objectContaining({ type: 'notice', text: 'the answer could not be improved: down' }));
  });

  it('when the second attempt runs into the iteration cap', async () => {
    const looks = Array.from({ length: 4 }, (_, n) => ({ calls: [{ name: 'look', arguments: { n } }] }));
    const run = await start({ answers: [{ text: 'hello' }, ...looks], verdicts: [fail] }, { settings: { maxIterations: 4 } });
    expect(await run.run('greet')).toMatchObject({ answer: `${UNVERIFIED_PREFIX}\n\nhello`, outcome: 'partial', iterations: 4 });
  });

  it('when the second attempt runs out of budget', async () => {
    const spent = { input: 10, output: 203, estimated: false };
    const run = await start(
      { answers: [{ text: 'hello' }], verdicts: [{ ...fail, usage: spent }] },
      { settings: { limits: { max_output_tokens: 208 } } },
    );
    const result = await run.run('greet');
    expect(result).toMatchObject({ answer: `${UNVERIFIED_PREFIX}\n\nhello`, outcome: 'budget', error: { code: 'budget_exceeded' } });
  });
});

describe('its settings', () => {
  it('are absent when it is off', () => {
    expect(verifySettings({ enabled: false, mode: 'hint', max_cycles: 1 })).toBeUndefined();
    expect(verifySettings({ enabled: true, mode: 'off', max_cycles: 1 })).toBeUndefined();
  });

  it('have a cap on the verdict of their own', () => {
    expect(verifySettings({ enabled: true, mode: 'strict', max_cycles: 2 })).toEqual({ mode: 'strict', maxCycles: 2, maxTokens: 1_024 });
    expect(verifySettings({ enabled: true, mode: 'hint', model: 'm', max_cycles: 1, max_tokens: 64 })).toEqual({
      mode: 'hint',
      model: 'm',
      maxCycles: 1,
      maxTokens: 64,
    });
  });
});
