import { describe, expect, it } from 'vitest';
import { estimateMessage, estimateRequest, estimateTokens, estimateTool } from '../../../core/budget/estimate.ts';

describe('token estimates', () => {
  it('are a quarter of the bytes, rounded up', () => {
    expect(estimateTokens('')).toBe(0);
    expect(estimateTokens('12345')).toBe(2);
    expect(estimateTokens('日本語日')).toBe(3);
  });

  it('of a long run of one letter take no time', () => {
    const start = performance.now();
    expect(estimateTokens('a'.repeat(4_000_000))).toBe(1_000_000);
    expect(performance.now() - start).toBeLessThan(1000);
  });

  it('count content, reasoning, names, ids and calls of a message', () => {
    expect(estimateMessage({ role: 'user', content: '12345678' })).toBe(52);
    expect(estimateMessage({ role: 'tool', content: '1234', callId: '1234', name: '1234', outcome: 'completed' })).toBe(53);
    expect(
      estimateMessage({
        role: 'assistant',
        content: '1234',
        reasoning: '1234',
        toolCalls: [{ id: '1234', name: '1234', arguments: '{"a":1}' }],
      }),
    ).toBe(50 + 2 + 30 + 4);
  });

  it('count a tool with its schema, and a fallback for a schema that is no JSON', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(estimateTool({ name: '1234', description: '1234', parameters: {} })).toBe(30 + 2 + 1 + 1 + 1);
    expect(estimateTool({ name: '1234', description: '1234', parameters: cyclic })).toBe(30 + 2 + 1 + 1 + 200);
  });

  it('count each message object once', () => {
    let reads = 0;
    const message = {
      role: 'user' as const,
      get content() {
        reads += 1;
        return '1234';
      },
    };
    expect(estimateRequest([message, message], [])).toBe(102);
    expect(estimateRequest([message], [])).toBe(51);
    expect(reads).toBe(1);
  });
});
