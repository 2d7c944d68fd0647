import { describe, expect, it } from 'vitest';
import { createHttpClient, hostPort } from '../../../adapters/http/index.ts';
import anthropic from '../../../adapters/llm/anthropic.ts';
import gemini from '../../../adapters/llm/gemini.ts';
import openai from '../../../adapters/llm/openai.ts';
import responses from '../../../adapters/llm/openai-responses.ts';
import type { LlmProvider, ModelEvent, ModelRequest } from '../../../ports/llm.ts';
import type { AssistantMessage, Message } from '../../../ports/message.ts';
import { startAnthropicServer } from '../../fakes/anthropic-server.ts';
import { startGeminiServer } from '../../fakes/gemini-server.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import type { FormatReply, FormatServer } from '../../fakes/reply-server.ts';
import { startResponsesServer } from '../../fakes/responses-server.ts';
import { providerOver } from './wire.ts';

/** A conversation begun with one provider and gone on with another, for every pair of formats. */

const THOUGHT = 'I had better look.';
const SIGNATURE = 'U0lHTkFUVVJF';

/** One turn as every format can make it; the id is one that only some formats allow. */
const TURN: FormatReply = {
  reasoning: [THOUGHT],
  signature: SIGNATURE,
  text: ['Looking.'],
  calls: [
    {
      id: 'call.1/with:odd+characters=and-more-than-forty-of-them',
      name: 'read_file',
      arguments: '{"path":"a.txt"}',
      signature: SIGNATURE,
    },
  ],
};

interface Running {
  readonly provider: LlmProvider;
  lastBody(): string;
  close(): Promise<void>;
}

/** A provider with a real server behind it that plays {@link TURN} for each request. */
const FORMATS = {
  openai: async (id: string): Promise<Running> => {
    const server = await startOpenAiServer(() => ({
      reasoning: [THOUGHT],
      text: ['Looking.'],
      calls: TURN.calls?.map(({ id: callId = '', name, arguments: args }) => ({ id: callId, name, arguments: args })) ?? [],
    }));
    return running(id, openai, server.url, { requests: server.requests, close: server.close }, { dialect: 'deepseek' });
  },
  'openai-responses': async (id: string) => overFormat(id, responses, await startResponsesServer(() => TURN)),
  anthropic: async (id: string) => overFormat(id, anthropic, await startAnthropicServer(() => TURN)),
  gemini: async (id: string) => overFormat(id, gemini, await startGeminiServer(() => TURN)),
} as const;

type Format = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as Format[];

function overFormat(id: string, definition: typeof anthropic, server: FormatServer): Running {
  return running(id, definition, server.url, server);
}

function running(
  id: string,
  definition: typeof openai,
  url: string,
  server: { readonly requests: readonly { readonly body: unknown }[]; close(): Promise<void> },
  options: object = {},
): Running {
  const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(url))] });
  return {
    provider: providerOver(definition, http, { id, base_url: url, ...options }),
    lastBody: () => JSON.stringify(server.requests.at(-1)?.body),
    async close() {
      await http.close();
      await server.close();
    },
  };
}

async function turnOf({ provider }: Running, messages: readonly Message[]): Promise<AssistantMessage> {
  const request: ModelRequest = { model: 'some-model', messages, tools: [], stream: true, thinking: 'medium' };
  let last: ModelEvent | undefined;
  for await (const event of provider.stream(request, new AbortController().signal)) last = event;
  if (last?.type !== 'response') throw new Error('no response');
  // What the loop stores.
  return last.message.reasoning === undefined && last.message.reasoningSignature === undefined
    ? last.message
    : { ...last.message, origin: provider.name };
}

/** The conversation up to the next request: a turn with a call, its result, and what the person says next. */
function goOn(message: AssistantMessage, isNextTurn: boolean): Message[] {
  const results = (message.toolCalls ?? []).map(
    ({ id, name }): Message => ({ role: 'tool', callId: id, name, content: 'the content', outcome: 'completed' }),
  );
  const next: Message[] = isNextTurn ? [{ role: 'user', content: 'And now?' }] : [];
  return [{ role: 'system', content: 'base' }, { role: 'user', content: 'task' }, message, ...results, ...next];
}

/** Ids of calls and of results in a body, whatever the format calls them. */
function idsIn(body: string): { readonly calls: readonly string[]; readonly results: readonly string[] } {
  const calls: string[] = [];
  const results: string[] = [];
  JSON.parse(body, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) return value;
    const each = value as Record<string, unknown>;
    if (each.type === 'tool_use') calls.push(String(each.id));
    if (each.type === 'function' && each.id !== undefined) calls.push(String(each.id));
    if (each.type === 'function_call') calls.push(String(each.call_id));
    if (each.type === 'tool_result') results.push(String(each.tool_use_id));
    if (each.type === 'function_call_output') results.push(String(each.call_id));
    if (each.role === 'tool') results.push(String(each.tool_call_id));
    return value;
  });
  return { calls, results };
}

const ID_RULES: Readonly<Partial<Record<Format, RegExp>>> = {
  anthropic: /^[A-Za-z0-9_-]{1,64}$/,
  'openai-responses': /^[\x21-\x7e]{1,64}$/,
};

describe.each(NAMES)('a turn of %s', (from) => {
  it.each(NAMES)('goes on with %s without its reasoning, and with calls that fit', async (to) => {
    const first = await FORMATS[from]('one');
    const second = await FORMATS[to]('two');
    try {
      const message = await turnOf(first, [{ role: 'user', content: 'task' }]);
      expect(message).toMatchObject({ reasoning: THOUGHT, toolCalls: [{ name: 'read_file' }] });
      for (const isNextTurn of [false, true]) {
        await turnOf(second, goOn(message, isNextTurn));
        const body = second.lastBody();
        expect(body).not.toContain(THOUGHT);
        expect(body).not.toContain(SIGNATURE);
        expect(body).toContain('Looking.');
        expect(body).toContain('the content');
        expect(body).toContain('a.txt');
        const { calls, results } = idsIn(body);
        expect(results).toEqual(calls);
        for (const id of calls) expect(id).toMatch(ID_RULES[to] ?? /./);
      }
    } finally {
      await first.close();
      await second.close();
    }
  });

  it('goes on with itself, and its reasoning comes back where the format has a place for it', async () => {
    const same = await FORMATS[from]('one');
    try {
      const message = await turnOf(same, [{ role: 'user', content: 'task' }]);
      await turnOf(same, goOn(message, false));
      expect(same.lastBody()).toContain(from === 'openai' ? THOUGHT : SIGNATURE);
    } finally {
      await same.close();
    }
  });

  it('comes back to it after a turn of each other format, and its reasoning too', async () => {
    const own = await FORMATS[from]('one');
    const others = await Promise.all(NAMES.filter((name) => name !== from).map((name) => FORMATS[name](`other-${name}`)));
    try {
      let messages: Message[] = goOn(await turnOf(own, [{ role: 'user', content: 'task' }]), true);
      for (const other of others) messages = [...messages, ...goOn(await turnOf(other, messages), true).slice(2)];
      await turnOf(own, messages);
      const body = own.lastBody();
      const marks = body.split(from === 'openai' ? THOUGHT : SIGNATURE).length - 1;
      expect(marks).toBe(1);
    } finally {
      for (const each of [own, ...others]) await each.close();
    }
  });
});
