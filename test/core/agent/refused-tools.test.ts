import { afterEach, describe, expect, it } from 'vitest';
import { createMcpTool } from '../../../core/mcp/tool.ts';
import type { ModelRequest } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import { createScriptedProvider, type ScriptedStep } from '../../fakes/llm.ts';
import { checkedTool, SERVER } from '../mcp/fixture.ts';
import { createHarness, fakeTool, type Harness } from './harness.ts';

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

const refusal = (text: string, status = 400) =>
  new ProviderError('provider_request', `service answered HTTP ${status}: ${text}`, { status });

async function run(answer: (request: ModelRequest, number: number) => ScriptedStep) {
  const connection = { call: async () => ({ content: [{ type: 'text', text: 'fine' } as const], isError: false, bytes: 1 }) };
  const mcpTools = [];
  for (const name of ['bad', 'good', 'worse']) mcpTools.push(createMcpTool(SERVER, await checkedTool({ name }), { connection }));
  const provider = createScriptedProvider(answer);
  harness = await createHarness({ provider, mcpTools, tools: [fakeTool('own')] });
  const result = await harness.run();
  const notices = harness.events.flatMap((event) => (event.type === 'notice' ? [event.text] : []));
  const told = provider.requests.map(({ tools }) => tools.map(({ name }) => name));
  return { result, notices, told, again: () => (harness as Harness).run('again'), provider };
}

describe('a service that refuses the definition of an MCP tool', () => {
  it.each([
    ["Invalid schema for function 'ci__bad': schema must have a 'type' key.", 'by its name'],
    ['tools.0.custom.input_schema: JSON schema is invalid.', 'by its place'],
    ["Invalid 'tools[0].function.parameters'", 'by its place in brackets'],
  ])('is asked again without it, visibly: %s', async (text) => {
    const { result, notices, told } = await run(({ tools }) =>
      tools.some(({ name }) => name === 'ci__bad') ? { error: refusal(text) } : { text: 'ok' },
    );
    expect(result).toMatchObject({ outcome: 'answer', answer: 'ok' });
    expect(told).toEqual([
      ['ci__bad', 'ci__good', 'ci__worse', 'own'],
      ['ci__good', 'ci__worse', 'own'],
    ]);
    expect(notices).toEqual([expect.stringMatching(/^the tool ci__bad is left out: the model's service refuses its definition \(/)]);
  });

  it('is asked again without the one among its declarations, not the one at the place of the list', async () => {
    const text = '* GenerateContentRequest.tools[0].function_declarations[2].parameters: should be non-empty';
    const { told } = await run(({ tools }) => (tools.some(({ name }) => name === 'ci__worse') ? { error: refusal(text) } : { text: 'ok' }));
    expect(told.at(-1)).toEqual(['ci__bad', 'ci__good', 'own']);
  });

  it('does not get it again in later requests, and may refuse another one', async () => {
    const { told, again, provider } = await run(({ tools }) => {
      const bad = tools.find(({ name }) => name === 'ci__bad' || name === 'ci__worse');
      return bad === undefined ? { text: 'ok' } : { error: refusal(`function ${bad.name} is malformed`, 422) };
    });
    expect(told.at(-1)).toEqual(['ci__good', 'own']);
    await again();
    expect(provider.requests).toHaveLength(4);
    expect(provider.requests.at(-1)?.tools.map(({ name }) => name)).toEqual(['ci__good', 'own']);
  });

  it.each([
    ['names a tool of odek itself', "Invalid schema for function 'own'"],
    ['names no tool', 'temperature must be at most 2'],
    ['names several tools', 'either ci__bad or ci__good is malformed'],
    ['names the place of a tool of odek itself', 'tools[3] is malformed'],
    ['names a place that is none', 'tools[77] is malformed'],
  ])('fails the run as ever where its message %s', async (_, text) => {
    const { result, told } = await run(() => ({ error: refusal(text) }));
    expect(result.outcome).toBe('failed');
    expect(told).toHaveLength(1);
  });

  it('is not believed when it fails for another reason than the request', async () => {
    const { result, told } = await run(() => ({ error: new ProviderError('provider_auth', 'ci__bad: no key', { status: 401 }) }));
    expect(result.outcome).toBe('failed');
    expect(told).toHaveLength(1);
  });
});
