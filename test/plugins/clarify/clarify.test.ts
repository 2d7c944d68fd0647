import { describe, expect, it } from 'vitest';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import clarify from '../../../plugins/clarify/index.ts';
import type { Clarification, Clarifier, Question } from '../../../ports/clarifier.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import { createFakeClarifier } from '../../fakes/clarifier.ts';

function tool(clarifier: Clarifier) {
  const registry = createToolRegistry();
  clarify.apply({ tools: registry.registrar('clarify'), clarifier }, {});
  return registry;
}

async function call(clarifier: Clarifier, signal = new AbortController().signal): Promise<ToolResult> {
  const exec = { signal, callId: 'c', args: {}, workspace: '/w', dataDir: '/d', runId: 'r1' };
  return (await tool(clarifier)
    .get('clarify')
    ?.spec.execute({ question: 'Which?' } as never, exec)) as ToolResult;
}

const answering = (came: Clarification): Clarifier => ({ ask: async () => came });

describe('clarify', () => {
  it('is told to a model in at most 600 bytes and touches nothing', () => {
    const registry = tool(answering({ kind: 'answered', text: 'x' }));
    expect(Buffer.byteLength(JSON.stringify(registry.definitions()[0]))).toBeLessThanOrEqual(600);
    expect(registry.get('clarify')?.spec.effects?.({} as never)).toEqual({});
  });

  it('gives the answer', async () => {
    expect(await call(answering({ kind: 'answered', text: 'the red one' }))).toEqual({ content: '{"answer":"the red one"}' });
  });

  it.each([
    ['empty', 'gave no answer'],
    ['ended', 'cannot be asked any more'],
    ['timeout', 'within 300 s'],
  ] as const)('says that the person is silent (%s) and how to go on', async (reason, text) => {
    const { content, failed } = await call(answering({ kind: 'unanswered', reason }));
    expect([failed, content]).toEqual([true, expect.stringContaining(text)]);
    expect(content).toContain('most reasonable assumption');
  });

  it('asks for 300 s in the name of its run, and stops when its signal fires', async () => {
    const asked: Question[] = [];
    const fake = createFakeClarifier();
    const controller = new AbortController();
    const calling = call(
      {
        ask: (question, signal) => {
          asked.push(question);
          return fake.clarifier.ask(question, signal);
        },
      },
      controller.signal,
    );
    await fake.shown('Which?');
    controller.abort();
    await expect(calling).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
    expect(asked).toEqual([{ text: 'Which?', timeoutMs: 300_000, run: 'r1' }]);
  });
});
