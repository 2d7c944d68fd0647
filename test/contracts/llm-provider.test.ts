import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { createHttpClient, hostPort } from '../../adapters/http/index.ts';
import type { LlmProviderDefinition, ProviderFormat } from '../../adapters/llm/index.ts';
import { PROVIDERS } from '../../adapters/llm/index.ts';
import { createLocalProvider } from '../../adapters/llm/local.ts';
import { guardProvider } from '../../core/guards/provider.ts';
import type { LlmProvider } from '../../ports/llm.ts';
import { startRawServer } from '../adapters/llm/wire.ts';
import { startAnthropicServer } from '../fakes/anthropic-server.ts';
import { startGeminiServer } from '../fakes/gemini-server.ts';
import { createFakeLlama, type LlamaAnswer } from '../fakes/llama.ts';
import { type ServerReply, startOpenAiServer } from '../fakes/openai-server.ts';
import type { FormatReply, FormatScript, FormatServer } from '../fakes/reply-server.ts';
import { startResponsesServer } from '../fakes/responses-server.ts';
import { brokenLlmProviders, scriptedHarness, scriptedStep } from './llm-provider.broken.ts';
import { type LlmProviderHarness, type LlmScenario, llmProviderSuite, SCENARIO_ANSWERS } from './llm-provider.suite.ts';

const clock = createSystemClock();
const silent = { request: () => Promise.reject(new Error('no network here')), close: async () => undefined };
const services = { clock, http: silent, log: () => undefined };

async function load(format: ProviderFormat): Promise<LlmProviderDefinition> {
  return (await PROVIDERS[format]()).default;
}

function serverReply(scenario: LlmScenario): ServerReply {
  switch (scenario) {
    case 'rate_limited':
      return { status: 429, error: { message: 'slow down' } };
    case 'cut_stream':
      return { ...SCENARIO_ANSWERS.plain_text, cutAfter: 3 };
    case 'never_ending':
      return { hang: true };
    case 'byte_by_byte':
      return SCENARIO_ANSWERS.two_parallel_calls;
    default:
      return SCENARIO_ANSWERS[scenario];
  }
}

async function rawReply(reply: ServerReply): Promise<Uint8Array> {
  const server = await startOpenAiServer([reply]);
  const got = await fetch(`${server.url}/chat/completions`, { method: 'POST', body: '{"stream":true}' });
  const bytes = new Uint8Array(await got.arrayBuffer());
  await server.close();
  return bytes;
}

const openaiHarness: LlmProviderHarness = {
  async make(scenario) {
    const { create } = await load('openai');
    if (scenario === 'byte_by_byte') {
      const raw = await startRawServer(await rawReply(serverReply(scenario)), 1);
      const provider = await create({ id: 'test', base_url: raw.url }, { ...services, http: raw.client });
      return { provider, dispose: () => raw.close() };
    }
    const server = await startOpenAiServer(() => serverReply(scenario));
    const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(server.url))] });
    const provider = await create({ id: 'test', base_url: server.url }, { ...services, http });
    return {
      provider,
      requests: () => server.count,
      connections: () => server.connections,
      async dispose() {
        await http.close();
        await server.close();
      },
    };
  },
};

type Start = (script: FormatScript, models: readonly object[]) => Promise<FormatServer>;

interface FormatCase {
  readonly start: Start;
  /** Below the server's address. */
  readonly path: string;
  /** What the wire calls the models that it lists. */
  readonly models: readonly object[];
  /** The format's own path of a streamed answer, and a body that asks for it. */
  readonly ask: string;
}

function formatReply(scenario: LlmScenario): FormatReply {
  switch (scenario) {
    case 'rate_limited':
      return { status: 429, error: { type: 'rate_limit_error', message: 'slow down' } };
    case 'cut_stream':
      return { ...SCENARIO_ANSWERS.plain_text, cutAfter: 2 };
    case 'never_ending':
      return { hang: true };
    case 'byte_by_byte':
      return SCENARIO_ANSWERS.two_parallel_calls;
    default:
      return SCENARIO_ANSWERS[scenario];
  }
}

function formatHarness(format: ProviderFormat, { start, path, models, ask }: FormatCase): LlmProviderHarness {
  return {
    async make(scenario) {
      const { create } = await load(format);
      const server = await start(() => formatReply(scenario), models);
      if (scenario === 'byte_by_byte') {
        const got = await fetch(`${server.url}${ask}`, { method: 'POST', body: '{"stream":true}' });
        const raw = await startRawServer(new Uint8Array(await got.arrayBuffer()), 1);
        await server.close();
        const provider = await create({ id: 'test', base_url: raw.url }, { ...services, http: raw.client });
        return { provider, dispose: () => raw.close() };
      }
      const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(server.url))] });
      const provider = await create({ id: 'test', base_url: `${server.url}${path}` }, { ...services, http });
      return {
        provider,
        requests: () => server.requests.length,
        connections: () => server.connections,
        async dispose() {
          await http.close();
          await server.close();
        },
      };
    },
  };
}

const anthropicHarness = formatHarness('anthropic', {
  start: startAnthropicServer,
  path: '',
  models: [{ id: 'claude-test', max_input_tokens: 200_000 }, { id: 'claude-test' }],
  ask: '/v1/messages',
});
const geminiHarness = formatHarness('gemini', {
  start: startGeminiServer,
  path: '',
  models: [{ name: 'models/gemini-test', inputTokenLimit: 1_000, outputTokenLimit: 0 }],
  ask: '/v1beta/models/m:streamGenerateContent?alt=sse',
});
const responsesHarness = formatHarness('openai-responses', {
  start: startResponsesServer,
  path: '/v1',
  models: [{ id: 'gpt-test' }],
  ask: '/v1/responses',
});

/** A model file has no other side: the module's failures stand for those of a service. */
function llamaAnswer(scenario: LlmScenario): LlamaAnswer {
  const { text, error, hang, calls, reasoning } = scriptedStep(scenario);
  return {
    text: [text ?? []].flat(),
    reasoning: [reasoning ?? []].flat(),
    ...(calls !== undefined &&
      calls.length > 0 && { calls: calls.map(({ name, arguments: args }) => ({ name, arguments: String(args) })) }),
    ...(error && { error }),
    ...(hang === true && { hang }),
  };
}

const localHarness: LlmProviderHarness = {
  withoutCallIds: true,
  async make(scenario) {
    const folder = await mkdtemp(join(tmpdir(), 'odek-local-'));
    const model_path = join(folder, 'model.gguf');
    await writeFile(model_path, '');
    const provider = await createLocalProvider({ model_path }, services, async () => createFakeLlama(llamaAnswer(scenario)));
    return { provider, dispose: () => rm(folder, { recursive: true }) };
  },
};

const replayHarness: LlmProviderHarness = {
  async make(scenario) {
    const folder = await mkdtemp(join(tmpdir(), 'odek-replay-'));
    const file = join(folder, 'recording.json');
    const step = scriptedStep(scenario);
    const text = [step.text ?? []].flat().map((part) => ({ text: part }));
    const reasoning = [step.reasoning ?? []].flat().map((part) => ({ reasoning: part }));
    const error = step.error as { code?: string; message: string } | undefined;
    const reply = {
      steps: [...reasoning, ...text],
      calls: step.calls ?? [],
      ...(step.hang === true ? { after_ms: 60_000 } : {}),
      ...(error === undefined ? {} : { error: { code: error.code, message: error.message, retryable: true } }),
    };
    const exchange = { request: { messages: [{ role: 'user' }] }, reply };
    await writeFile(file, JSON.stringify({ format: 'odek.recording/v1', exchanges: [exchange] }));
    const { create } = await load('replay');
    return { provider: await create({ file }, services), dispose: () => rm(folder, { recursive: true }) };
  },
};

const recordHarness: LlmProviderHarness = {
  async make(scenario) {
    const folder = await mkdtemp(join(tmpdir(), 'odek-record-'));
    const { create } = await load('record');
    const inner = await scriptedHarness().make(scenario);
    const provider = await create({ file: join(folder, 'recording.json'), provider: inner.provider }, services);
    return { ...inner, provider, dispose: () => rm(folder, { recursive: true }) };
  },
};

function guarded(harness: LlmProviderHarness): LlmProviderHarness {
  const guard = (provider: LlmProvider): LlmProvider =>
    guardProvider(provider, { clock, ids: { hex: () => '0000' }, requestTimeoutMs: 20_000, idleTimeoutMs: 20_000, maxAttempts: 1 });
  return {
    async make(scenario) {
      const subject = await harness.make(scenario);
      return { ...subject, provider: guard(subject.provider) };
    },
    ...(harness.withoutCallIds === true && { withoutCallIds: true }),
  };
}

const adapters = {
  openai: openaiHarness,
  'openai-responses': responsesHarness,
  anthropic: anthropicHarness,
  gemini: geminiHarness,
  local: localHarness,
  replay: replayHarness,
  record: recordHarness,
} satisfies Record<ProviderFormat, LlmProviderHarness>;
const subjects = { ...adapters, 'the scripted fake': scriptedHarness() };

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a model provider`, () => {
    for (const { id, sentence, run } of llmProviderSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
  describe(`${name} keeps it behind the guard`, () => {
    for (const { id, sentence, run } of llmProviderSuite.cases) it(`${id}: ${sentence}`, () => run(guarded(harness)));
  });
}

describe('the suite of a model provider', () => {
  for (const { name, caughtBy, harness } of brokenLlmProviders) {
    it(`rejects a provider that ${name} (${caughtBy})`, async () => {
      const found = llmProviderSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken provider for each of its cases', () => {
    const caught = new Set(brokenLlmProviders.map(({ caughtBy }) => caughtBy));
    expect(llmProviderSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
