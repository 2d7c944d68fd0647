import { describe, expect, it } from 'vitest';
import { DIALECTS, type DialectName, inferDialect } from '../../../adapters/llm/dialects.ts';
import { contextWindowOf, outputCapOf } from '../../../adapters/llm/model-table.ts';
import { SERVICES, type Service, serviceOfAddress } from '../../../adapters/llm/services.ts';
import type { ModelRequest, ThinkingLevel } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { answer, cannedClient, collect, openaiOver, REQUEST } from './wire.ts';

describe('dialects', () => {
  it('are found by address before id, and are generic otherwise', () => {
    expect(inferDialect('own', 'https://api.deepseek.com')).toBe('deepseek');
    expect(inferDialect('openai', 'https://openrouter.ai/api/v1')).toBe('openrouter');
    expect(inferDialect('vllm', 'http://10.0.0.5:8000/v1')).toBe('vllm');
    expect(inferDialect('own', 'http://10.0.0.5:8000/v1')).toBe('generic');
    expect(inferDialect('anthropic', 'https://api.anthropic.com')).toBe('generic');
    expect(inferDialect('own', undefined)).toBe('generic');
  });

  it('exist for each service of the OpenAI format', () => {
    const names = Object.entries<Service>(SERVICES).flatMap(([name, { format }]) => (format === 'openai' ? [name] : []));
    expect([...names, 'generic'].sort()).toEqual(Object.keys(DIALECTS).sort());
  });
});

describe('services', () => {
  it('that have an address of their own are known by it', () => {
    for (const [name, { baseUrl }] of Object.entries<Service>(SERVICES)) {
      if (baseUrl.startsWith('https:')) expect(serviceOfAddress(baseUrl), name).toBe(name);
    }
    expect(serviceOfAddress('http://localhost:11434/v1')).toBe('ollama');
    expect(serviceOfAddress('http://localhost:8080/v1')).toBeUndefined();
    expect(serviceOfAddress('no address')).toBeUndefined();
  });
});

/** Field of replayed reasoning, thinking off, low, medium and high, stream options, output limit, `[DONE]` alone is an end. */
type Row = readonly [DialectName, string | undefined, object, object, object, object, boolean, string, boolean];

const effort = (level: string): object => ({ reasoning_effort: level });
const both = (level: string): object => ({ thinking: { type: 'enabled' }, reasoning_effort: level });
const template = (level: string): object => ({ chat_template_kwargs: { enable_thinking: true }, reasoning_effort: level });
const routed = (level: string): object => ({ reasoning: { effort: level } });
const ON = { thinking: { type: 'enabled' } };
const OFF = { thinking: { type: 'disabled' } };
const NONE = effort('none');
const NO_TEMPLATE = { chat_template_kwargs: { enable_thinking: false } };

const TABLE: readonly Row[] = [
  ['deepseek', 'reasoning_content', OFF, both('low'), both('high'), both('high'), true, 'max_tokens', false],
  ['openai', undefined, NONE, effort('low'), effort('medium'), effort('high'), true, 'max_completion_tokens', false],
  ['zai', 'reasoning_content', OFF, both('low'), both('high'), both('high'), true, 'max_tokens', false],
  ['kimi', 'reasoning_content', OFF, ON, ON, ON, true, 'max_tokens', false],
  ['ollama', 'reasoning', NONE, effort('low'), effort('medium'), effort('high'), true, 'max_tokens', true],
  ['vllm', 'reasoning', NO_TEMPLATE, template('low'), template('medium'), template('high'), true, 'max_tokens', false],
  ['llama.cpp', 'reasoning_content', NO_TEMPLATE, template('low'), template('medium'), template('high'), true, 'max_tokens', true],
  [
    'openrouter',
    'reasoning',
    { reasoning: { enabled: false } },
    routed('low'),
    routed('medium'),
    routed('high'),
    true,
    'max_tokens',
    false,
  ],
  ['generic', 'reasoning_content', NONE, effort('low'), effort('medium'), effort('high'), true, 'max_tokens', false],
];

describe('the table of dialects', () => {
  const called: Message = { role: 'assistant', content: '', reasoning: 'because', toolCalls: [{ id: 'c', name: 't', arguments: '{}' }] };
  const result: Message = { role: 'tool', callId: 'c', name: 't', content: 'r', outcome: 'completed' };
  const request: ModelRequest = { ...REQUEST, messages: [{ role: 'user', content: 'u' }, called, result], maxTokens: 9 };
  // Bodies of the wire, of which the test picks what a dialect decides.
  const bodyOf = async (dialect: DialectName, thinking?: ThinkingLevel): Promise<Record<string, unknown>> => {
    const http = cannedClient(answer());
    await collect(openaiOver(http, { dialect }), thinking === undefined ? request : { ...request, thinking });
    return http.bodies[0] as Record<string, unknown>;
  };
  const thinkingIn = ({ thinking, reasoning_effort, reasoning, chat_template_kwargs }: Record<string, unknown>): object =>
    JSON.parse(JSON.stringify({ thinking, reasoning_effort, reasoning, chat_template_kwargs })) as object;

  it('has every dialect', () => {
    expect(TABLE.map(([name]) => name).sort()).toEqual(Object.keys(DIALECTS).sort());
  });

  it.each(TABLE)('holds for %s', async (name, field, off, low, medium, high, streamOptions, maxTokens, doneIsEnd) => {
    const body = await bodyOf(name);
    const replayed = (body.messages as Record<string, unknown>[])[1] ?? {};
    expect(Object.keys(replayed).filter((key) => replayed[key] === 'because')).toEqual(field === undefined ? [] : [field]);
    expect(body.stream_options !== undefined).toBe(streamOptions);
    expect(body[maxTokens]).toBe(9);
    expect(thinkingIn(body)).toEqual({});
    const levels = ['disabled', 'low', 'medium', 'high'] as const;
    const got = await Promise.all(levels.map(async (level) => thinkingIn(await bodyOf(name, level))));
    expect(got).toEqual([off, low, medium, high]);
    const cut = cannedClient({ chunks: [Buffer.from('data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n')] });
    const ending = collect(openaiOver(cut, { dialect: name })).then(
      () => true,
      () => false,
    );
    expect(await ending).toBe(doneIsEnd);
  });
});

describe('context windows', () => {
  it.each([
    ['deepseek-v4-flash', 1_000_000],
    ['deepseek-chat', 128_000],
    ['glm-5.3', 1_000_000],
    ['glm-5.2-air', 1_000_000],
    ['glm-5-turbo', 200_000],
    ['glm-4.6', 128_000],
    ['kimi-k2', 256_000],
    ['k3-256k', 256_000],
    ['k3', 1_000_000],
    ['gpt-6', 1_050_000],
    ['gpt-5.4', 1_050_000],
    ['gpt-5.4-mini', 400_000],
    ['gpt-5-nano', 400_000],
    ['gpt-4.1-mini', 1_050_000],
    ['openai/gpt-4o', 128_000],
    ['o3-mini', 200_000],
    ['claude-sonnet-4-5', 200_000],
    ['claude-opus-4-7', 1_000_000],
    ['anthropic/claude-3-5-haiku', 200_000],
    ['gemini-2.5-flash', 1_048_576],
    ['llama3', undefined],
  ])('of %s is %s', (model, tokens) => {
    expect(contextWindowOf(model)).toBe(tokens);
  });
});

describe('the longest answer', () => {
  it.each([
    ['claude-3-5-sonnet-latest', 8_192],
    ['claude-3-haiku', 4_096],
    ['claude-opus-4-20250514', 32_000],
    ['claude-opus-4-5', 64_000],
    ['gpt-5', undefined],
  ])('of %s is %s', (model, tokens) => {
    expect(outputCapOf(model)).toBe(tokens);
  });
});
