import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { resolveWindow, withWindows } from '../../hosts/model-windows.ts';
import type { LlmProvider, ModelInfo, ModelRequest } from '../../ports/llm.ts';
import { createScriptedProvider } from '../fakes/llm.ts';

const clock = createSystemClock();
const request = (model: string): ModelRequest => ({ model, messages: [], tools: [], stream: true });

async function call(provider: LlmProvider, model: string): Promise<void> {
  for await (const _ of provider.stream(request(model), new AbortController().signal));
}

/** A provider that knows the window of `known`, lists `models`, and counts the questions for them. */
function provider(models: () => Promise<readonly ModelInfo[]>): { readonly inner: LlmProvider; readonly asked: () => number } {
  let asked = 0;
  const scripted = createScriptedProvider({ text: 'ok' });
  const inner: LlmProvider = {
    ...scripted,
    limits: (model) => (model === 'known' ? { contextWindow: 1_000, maxOutputTokens: 10 } : {}),
    models: (_signal) => {
      asked += 1;
      return models();
    },
  };
  return { inner, asked: () => asked };
}

describe('the context window', () => {
  it.each([
    [5, { contextWindow: 6 }, { contextWindow: 7 }, { tokens: 5, source: 'config' }],
    [0, { contextWindow: 6 }, { contextWindow: 7 }, { tokens: 6, source: 'table' }],
    [0, {}, { contextWindow: 7 }, { tokens: 7, source: 'discovery' }],
    [0, {}, {}, { source: 'unknown' }],
    [0, {}, undefined, { source: 'unknown' }],
  ])('is what is configured (%i), what the table has (%j), what the service tells (%j): %j', (configured, table, listed, want) => {
    expect(resolveWindow(configured, table, listed)).toEqual(want);
  });

  it('is asked for once, after the first answer, where nobody knows it', async () => {
    const { inner, asked } = provider(async () => [{ id: 'new', contextWindow: 2_000 }]);
    const known = withWindows(inner, { configured: 0, clock });
    expect(known.limits('new')).toEqual({});
    expect(asked()).toBe(0);
    await call(known, 'new');
    await expect.poll(() => known.limits('new')).toEqual({ contextWindow: 2_000 });
    await call(known, 'new');
    await call(known, 'unlisted');
    expect(asked()).toBe(1);
    expect(known.limits('known')).toEqual({ contextWindow: 1_000, maxOutputTokens: 10 });
    await known.close();
  });

  it.each([
    ['the table has', 0, 'known', 1_000],
    ['is configured', 500, 'new', 500],
  ])('is not asked for where it is what %s', async (_what, configured, model, tokens) => {
    const { inner, asked } = provider(async () => []);
    const known = withWindows(inner, { configured, clock });
    await call(known, model);
    expect(known.limits(model).contextWindow).toBe(tokens);
    expect(asked()).toBe(0);
    await known.close();
  });

  it('stays unknown where the service does not tell, and the run goes on', async () => {
    const { inner, asked } = provider(() => Promise.reject(new Error('404')));
    const known = withWindows(inner, { configured: 0, clock });
    await call(known, 'new');
    await call(known, 'new');
    expect(known.limits('new')).toEqual({});
    expect(asked()).toBe(1);
    await known.close();
  });

  it('is no longer waited for when the provider is closed', async () => {
    let signal: AbortSignal | undefined;
    const scripted = createScriptedProvider({ text: 'ok' });
    const inner: LlmProvider = {
      ...scripted,
      models: (given) => {
        signal = given;
        return new Promise(() => undefined);
      },
    };
    const known = withWindows(inner, { configured: 0, clock });
    await call(known, 'new');
    await known.close();
    expect(signal?.aborted).toBe(true);
    expect(scripted.closed).toBe(true);
  });
});
