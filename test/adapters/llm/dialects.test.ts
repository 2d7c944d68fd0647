import { describe, expect, it } from 'vitest';
import { DIALECTS, inferDialect } from '../../../adapters/llm/dialects.ts';
import { contextWindowOf } from '../../../adapters/llm/model-table.ts';

describe('dialects', () => {
  it('are found by address before id, and are generic otherwise', () => {
    expect(inferDialect('own', 'https://api.deepseek.com')).toBe('deepseek');
    expect(inferDialect('openai', 'https://openrouter.ai/api/v1')).toBe('openrouter');
    expect(inferDialect('vllm', 'http://10.0.0.5:8000/v1')).toBe('vllm');
    expect(inferDialect('own', 'http://10.0.0.5:8000/v1')).toBe('generic');
    expect(inferDialect('own', undefined)).toBe('generic');
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
    ['llama3', undefined],
  ])('of %s is %s', (model, tokens) => {
    expect(contextWindowOf(model)).toBe(tokens);
  });
});
