import type { ModelRequest } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import type { Exchange, ExpectedMessage, RecordedReply } from './format.ts';

/** Messages that a recording speaks about: all but system ones, which hold dates, paths and prompts. */
export type ComparedMessage = Exclude<Message, { role: 'system' }>;

export function comparedMessages(request: ModelRequest): ComparedMessage[] {
  return request.messages.filter((message) => message.role !== 'system');
}

/** The reply as the next request must carry it; none when the reply was an error. */
export function replyAsMessage(reply: RecordedReply): ExpectedMessage[] {
  if (reply.error !== undefined) return [];
  return [{ role: 'assistant', ...(reply.calls.length === 0 ? {} : { calls: reply.calls.map(({ id, name }) => ({ id, name })) }) }];
}

/** For each exchange, all messages that its request must hold. */
export function expectedMessages(exchanges: readonly Exchange[]): readonly (readonly ExpectedMessage[])[] {
  const all: (readonly ExpectedMessage[])[] = [];
  for (const [index, { request }] of exchanges.entries()) {
    const before = request.continues ? [...(all[index - 1] ?? []), ...replyAsMessage(exchanges[index - 1]?.reply ?? NO_REPLY)] : [];
    all.push([...before, ...request.messages]);
  }
  return all;
}

const NO_REPLY: RecordedReply = { steps: [], calls: [], finish: 'stop', error: { code: 'invalid_response', message: '' } };

/** The first difference in words, or undefined when the request is the expected one. */
export function firstDifference(
  request: ModelRequest,
  expected: readonly ExpectedMessage[],
  tools: readonly string[] | undefined,
): string | undefined {
  const messages = comparedMessages(request);
  for (let index = 0; index < Math.max(expected.length, messages.length); index += 1) {
    const want = expected[index];
    const got = messages[index];
    const differs = want !== undefined && got !== undefined ? messageDifference(want, got) : missing(want, got);
    if (differs !== undefined) return `message ${index + 1}: ${differs}`;
  }
  if (tools === undefined) return undefined;
  const names = request.tools.map((tool) => tool.name);
  return listDifference('tools', tools, names);
}

function missing(want: ExpectedMessage | undefined, got: ComparedMessage | undefined): string {
  return want === undefined
    ? `expected no more messages, got one of role ${got?.role}`
    : `expected one of role ${want.role}, got no more messages`;
}

function messageDifference(want: ExpectedMessage, got: ComparedMessage): string | undefined {
  if (want.role !== got.role) return `expected role ${want.role}, got role ${got.role}`;
  if (got.role === 'assistant') {
    const label = (call: { id: string; name: string }): string => `${call.name} (${call.id})`;
    const differs = listDifference('calls', (want.calls ?? []).map(label), (got.toolCalls ?? []).map(label));
    if (differs !== undefined) return differs;
  }
  if (got.role === 'tool') {
    if (want.name !== undefined && want.name !== got.name) return `expected the result of tool ${want.name}, got ${got.name}`;
    if (want.callId !== undefined && want.callId !== got.callId) return `expected the result of call ${want.callId}, got ${got.callId}`;
  }
  if (want.text !== undefined && want.text !== got.content) return `expected the text ${quote(want.text)}, got ${quote(got.content)}`;
  if (want.includes !== undefined && !got.content.includes(want.includes)) {
    return `expected a text with ${quote(want.includes)}, got ${quote(got.content)}`;
  }
  return undefined;
}

function listDifference(what: string, want: readonly string[], got: readonly string[]): string | undefined {
  const same = want.length === got.length && want.every((entry, index) => entry === got[index]);
  return same ? undefined : `expected ${what} [${want.join(', ')}], got [${got.join(', ')}]`;
}

function quote(text: string): string {
  return JSON.stringify(text.length <= 120 ? text : `${text.slice(0, 120)}…`);
}
