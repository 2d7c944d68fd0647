import { describe, expect, it } from 'vitest';
import { guardProvider } from '../../../core/guards/provider.ts';
import type { LlmProvider } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { createScriptedProvider } from '../../fakes/llm.ts';

function setUp(models: LlmProvider['models']) {
  const clock = createManualClock();
  const inner: LlmProvider = { ...createScriptedProvider({}), ...(models && { models }) };
  return { clock, guarded: guardProvider(inner, { clock, ids: { hex: () => '0000' }, requestTimeoutMs: 1_000, idleTimeoutMs: 1_000 }) };
}

const never = (): AbortSignal => new AbortController().signal;

describe('the list of models behind the guard', () => {
  it('is what the provider lists, and absent where it lists none', async () => {
    expect(await setUp(async () => [{ id: 'm' }]).guarded.models?.(never())).toEqual([{ id: 'm' }]);
    expect(setUp(undefined).guarded.models).toBeUndefined();
  });

  it.each([
    ['of the port', new ProviderError('provider_auth', 'no'), 'provider_auth'],
    ['of any kind', new Error('oops'), 'invalid_response'],
  ])('fails with an error of the port for an error %s, without another attempt', async (_what, error, code) => {
    let asked = 0;
    const { guarded } = setUp(async () => {
      asked += 1;
      throw error;
    });
    await expect(guarded.models?.(never())).rejects.toMatchObject({ name: 'ProviderError', code });
    expect(asked).toBe(1);
  });

  it('ends on a cancel and at its time limit, and tells the provider so', async () => {
    const signals: AbortSignal[] = [];
    const { guarded, clock } = setUp((signal) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    const cancel = new AbortController();
    const cancelled = guarded.models?.(cancel.signal);
    cancel.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
    const late = guarded.models?.(never());
    late?.catch(() => undefined);
    await clock.advance(1_000);
    await expect(late).rejects.toMatchObject({ code: 'deadline_exceeded', limit: 1_000 });
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});
