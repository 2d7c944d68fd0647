import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import local, { createLocalProvider } from '../../../adapters/llm/local.ts';
import type { LlmProvider, ModelRequest } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { createFakeLlama, type FakeLlama, type LlamaAnswer } from '../../fakes/llama.ts';
import { cannedClient, collect, REQUEST, respond } from './wire.ts';

let folder: string;
let model_path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-local-'));
  model_path = join(folder, 'small.gguf');
  await writeFile(model_path, 'no weights');
});
afterEach(() => rm(folder, { recursive: true }));

const services = { http: cannedClient(), clock: createSystemClock(), log: () => undefined };

async function make(...answers: readonly LlamaAnswer[]): Promise<{ readonly provider: LlmProvider; readonly llama: FakeLlama }> {
  const llama = createFakeLlama(...answers);
  return { llama, provider: await createLocalProvider({ model_path, context_size: 2_048 }, services, async () => llama) };
}

describe('a model file', () => {
  it('is loaded with the first call, once, and given back at the end', async () => {
    const { provider, llama } = await make({ text: ['Hi'] });
    expect(llama.loaded).toEqual([]);
    await respond(provider);
    await respond(provider);
    expect(llama.loaded).toEqual([model_path]);
    expect(provider.limits('m')).toEqual({ contextWindow: 2_048 });
    expect(await provider.models?.(new AbortController().signal)).toEqual([{ id: 'small.gguf', contextWindow: 2_048 }]);
    await provider.close();
    expect(llama.disposed).toBe(true);
  });

  it('sees calls with their results in the turn that made them, and a turn to be written at the end', async () => {
    const { provider, llama } = await make({ text: ['Done.'] });
    const messages: Message[] = [
      { role: 'system', content: 'base' },
      { role: 'user', content: 'task' },
      {
        role: 'assistant',
        content: 'Looking.',
        reasoning: 'Hm.',
        toolCalls: [
          { id: 'a', name: 'read_file', arguments: '{"path":"a"}' },
          { id: 'b', name: 'now', arguments: '{"cut' },
        ],
      },
      { role: 'tool', callId: 'b', name: 'now', content: 'noon', outcome: 'completed' },
      { role: 'tool', callId: 'a', name: 'read_file', content: 'text', outcome: 'completed' },
      { role: 'system', content: 'hint' },
      { role: 'assistant', content: 'So.', reasoning: 'of another', origin: 'openai' },
    ];
    await respond(provider, { ...REQUEST, messages });
    expect(llama.histories[0]).toEqual([
      { type: 'system', text: 'base' },
      { type: 'user', text: 'task' },
      {
        type: 'model',
        response: [
          { type: 'segment', segmentType: 'thought', text: 'Hm.', ended: true },
          'Looking.',
          { type: 'functionCall', name: 'read_file', params: { path: 'a' }, result: 'text', startsNewChunk: true },
          { type: 'functionCall', name: 'now', params: {}, result: 'noon' },
        ],
      },
      { type: 'system', text: 'hint' },
      { type: 'model', response: ['So.'] },
    ]);
  });

  it('gets the tools in the words of its grammar', async () => {
    const { provider, llama } = await make({});
    const parameters = {
      type: 'object',
      properties: {
        path: { type: 'string', description: 'where', pattern: '^a' },
        kind: { enum: ['x', 'y'] },
        many: { type: 'array', items: { type: ['integer', 'null'] } },
        either: { anyOf: [{ type: 'string' }, { type: 'object', properties: { deep: { type: 'number' } } }] },
      },
      required: ['path'],
    };
    const tools = [
      { name: 'a', description: 'A', parameters },
      { name: 'b', description: 'B', parameters: { type: 'object', properties: {} } },
    ];
    await respond(provider, { ...REQUEST, tools });
    expect(llama.generations[0]?.functions).toEqual({
      a: {
        description: 'A',
        params: {
          type: 'object',
          properties: {
            path: { type: 'string', description: 'where' },
            kind: { enum: ['x', 'y'] },
            many: { type: 'array', items: { type: ['integer', 'null'] } },
            either: { oneOf: [{ type: 'string' }, { type: 'object', properties: { deep: { type: 'number' } }, required: [] }] },
          },
          required: ['path'],
        },
      },
      b: { description: 'B' },
    });
  });

  it.each([
    ['disabled', 0],
    ['low', 1_024],
    ['high', Number.POSITIVE_INFINITY],
  ] as const)('thinks at the level %s for %s tokens', async (thinking, thoughtTokens) => {
    const { provider, llama } = await make({});
    await respond(provider, { ...REQUEST, thinking, temperature: 0, maxTokens: 9 });
    expect(llama.generations[0]).toMatchObject({ budgets: { thoughtTokens }, temperature: 0, maxTokens: 9 });
  });

  it('tells its thoughts, its text, its calls and what it read and wrote', async () => {
    const { provider } = await make({
      reasoning: ['Two ', 'and'],
      text: ['Looking.'],
      calls: [
        { name: 'now', arguments: '{}' },
        { name: 'now', arguments: '{"a":1}' },
      ],
    });
    expect(await respond(provider)).toEqual({
      type: 'response',
      message: {
        role: 'assistant',
        content: 'Looking.',
        reasoning: 'Two and',
        toolCalls: [
          { id: 'it1-call0', name: 'now', arguments: '{}' },
          { id: 'it1-call1', name: 'now', arguments: '{"a":1}' },
        ],
      },
      finish: 'tool_calls',
      usage: { input: 20, output: 3, estimated: false },
    });
  });

  it.each([
    ['maxTokens', 'length'],
    ['eogToken', 'stop'],
  ])('that stops by %s has finished by %s', async (stopReason, finish) => {
    const { provider } = await make({ text: ['Hi'], stopReason });
    expect((await respond(provider)).finish).toBe(finish);
  });

  it('whose window is too small says so instead of forgetting', async () => {
    const { provider } = await make({ overflows: true }, { error: new Error('Failed to compress chat history to fit context window') });
    await expect(respond(provider)).rejects.toMatchObject({ code: 'context_length', limit: 2_048, retryable: false });
    await expect(respond(provider)).rejects.toMatchObject({ code: 'context_length' });
  });

  it('that breaks is a failure of the provider, and the next call is answered', async () => {
    const { provider } = await make({ error: new Error('out of memory') }, { text: ['Hi'] });
    await expect(respond(provider)).rejects.toMatchObject({ name: 'ProviderError', code: 'provider_unavailable' });
    expect((await respond(provider)).message.content).toBe('Hi');
  });

  it('writes one answer at a time, and a cancelled one makes room', async () => {
    const { provider, llama } = await make({ hang: true }, { text: ['second'] });
    const cancel = new AbortController();
    const first = collect(provider, REQUEST, cancel.signal);
    const second = respond(provider);
    await expect.poll(() => llama.histories.length).toBe(1);
    cancel.abort();
    await expect(first).rejects.toMatchObject({ code: 'cancelled' });
    expect((await second).message.content).toBe('second');
  });
});

describe('the provider local', () => {
  it.each([
    [{}, 'model_path'],
    [{ model_path: 'relative.gguf' }, 'model_path'],
    [{ model_path: '/x', context_size: 1 }, 'context_size'],
    [{ model_path: '/x', gpu: 'yes' }, 'gpu'],
    [{ model_path: '/x', colour: 'red' }, 'colour'],
  ])('refuses the options %j naming %s', async (options, key) => {
    const path = 'model_path' in options && options.model_path === '/x' ? { model_path } : {};
    await expect(createLocalProvider({ ...options, ...path }, services, async () => createFakeLlama())).rejects.toMatchObject({
      name: 'ConfigError',
      message: expect.stringContaining(`"${key}"`),
    });
  });

  it('says which file is missing, before anything is loaded', async () => {
    const missing = join(folder, 'gone.gguf');
    let loads = 0;
    const load = async (): Promise<FakeLlama> => {
      loads += 1;
      return createFakeLlama();
    };
    await expect(createLocalProvider({ model_path: missing }, services, load)).rejects.toMatchObject({
      code: 'model_file_missing',
      value: missing,
    });
    expect(loads).toBe(0);
  });

  it('says the one command that installs the package where it is not there', async () => {
    const made = Promise.resolve(local.create({ model_path }, services));
    await expect(made).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'package_missing',
      message: expect.stringMatching(/Run: npm install (-g )?node-llama-cpp$/),
    });
  });

  it('answers a request of the whole set of options without a wish that was not made', async () => {
    const { provider, llama } = await make({});
    const request: ModelRequest = { model: 'm', messages: [{ role: 'user', content: 'u' }], tools: [], stream: false };
    await respond(provider, request);
    const { onResponseChunk: _chunk, signal: _signal, contextShift: _shift, ...wishes } = llama.generations[0] ?? {};
    expect(wishes).toEqual({});
  });
});
