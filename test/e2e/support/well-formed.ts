import assert from 'node:assert/strict';
import type { ServerRequest } from '../../fakes/openai-server.ts';

interface WireCall {
  readonly id: string;
  readonly function: { readonly name: string; readonly arguments: string };
}

interface WireMessage {
  readonly role: string;
  readonly content: string | null;
  readonly tool_calls?: readonly WireCall[];
  readonly tool_call_id?: string;
}

function idsBehind(messages: readonly WireMessage[], at: number): string[] {
  const rest = messages.slice(at + 1);
  const end = rest.findIndex((message) => message.role !== 'tool');
  return rest.slice(0, end === -1 ? rest.length : end).map((message) => message.tool_call_id ?? '');
}

function checkMessages(messages: readonly WireMessage[], name: string): void {
  const seen = new Set<string>();
  let results = 0;
  for (const [index, message] of messages.entries()) {
    const where = `${name}, message ${index}`;
    assert.ok(['system', 'user', 'assistant', 'tool'].includes(message.role), `${where}: role ${message.role}`);
    if (message.role !== 'assistant') assert.equal(typeof message.content, 'string', `${where}: content`);
    if (message.role === 'tool') results += 1;
    const calls = message.tool_calls ?? [];
    if (message.role === 'assistant') assert.ok(calls.length > 0 || message.content, `${where}: neither text nor calls`);
    for (const call of calls) {
      assert.ok(!seen.has(call.id), `${where}: the id ${call.id} was used before`);
      seen.add(call.id);
      assert.match(call.function.name, /^[A-Za-z0-9_-]{1,64}$/, `${where}: the name of a call`);
      assert.equal(typeof JSON.parse(call.function.arguments), 'object', `${where}: arguments`);
    }
    if (calls.length === 0) continue;
    assert.deepEqual(
      idsBehind(messages, index),
      calls.map((call) => call.id),
      `${where}: each call has exactly one result, right behind it`,
    );
  }
  assert.equal(results, seen.size, `${name}: a result without its call`);
  assert.notEqual(messages.at(-1)?.role, 'assistant', `${name}: nothing to answer`);
}

/** Throws unless a strict chat-completions service would accept every request. */
export function assertWellFormed(requests: readonly ServerRequest[]): void {
  for (const { number, body } of requests) {
    const { messages, tools = [] } = body as { messages: WireMessage[]; tools?: { function: { name: string } }[] };
    checkMessages(messages, `request ${number}`);
    const names = tools.map((tool) => tool.function.name);
    assert.deepEqual(names, [...names].sort(), `request ${number}: tools are sorted by name`);
  }
}

/** The bytes of the `messages` array, without its closing bracket. */
export function messageBytes({ text }: ServerRequest): string {
  const start = text.indexOf('"messages":[') + '"messages":['.length;
  let depth = 0;
  let quoted = false;
  for (let at = start; at < text.length; at += 1) {
    const character = text[at];
    if (quoted) {
      if (character === '\\') at += 1;
      else if (character === '"') quoted = false;
    } else if (character === '"') quoted = true;
    else if (character === '[' || character === '{') depth += 1;
    else if (character === '}') depth -= 1;
    else if (character === ']') {
      if (depth === 0) return text.slice(start, at);
      depth -= 1;
    }
  }
  throw new Error('the messages array does not end');
}
