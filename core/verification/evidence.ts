/** What the judge of an answer gets to read: bounded, redacted before it is cut, every part wrapped. */
import type { Message, ToolCall } from '../../ports/message.ts';
import { utf8Head, utf8Length, utf8Tail } from '../results/utf8.ts';
import { unwrapUntrusted, wrapUntrusted } from '../untrusted/wrapper.ts';

interface EvidenceTools {
  redact(text: string): string;
  /** A new one for each part. */
  nonce(): string;
}

interface Turn {
  /** Newest last; the last user message begins the turn. */
  readonly messages: readonly Message[];
  readonly answer: string;
}

const TASK_BYTES = 4_096;
const ANSWER_BYTES = 12_288;
const TRACE_BYTES = 14_336;
const RESULT_BYTES = 1_536;
const ARGUMENT_BYTES = 512;
const EARLIER_BYTES = 4_096;
const EARLIER_PART_BYTES = 1_024;

/** Head and tail of a text over `max` UTF-8 bytes, with what was left out between them. */
export function excerpt(text: string, max: number): string {
  const total = utf8Length(text);
  if (total <= max) return text;
  const head = utf8Head(text, Math.ceil(max / 2));
  const tail = utf8Tail(text, Math.floor(max / 2));
  return `${head}\n[… ${total - utf8Length(head) - utf8Length(tail)} bytes omitted]\n${tail}`;
}

/** The newest parts that fit, in their order, and how many do not. */
function newest(parts: readonly string[], maxBytes: number): { readonly kept: readonly string[]; readonly left: number } {
  let bytes = 0;
  let from = parts.length;
  while (from > 0) {
    bytes += utf8Length(parts[from - 1] ?? '') + 1;
    if (bytes > maxBytes) break;
    from -= 1;
  }
  return { kept: parts.slice(from), left: from };
}

function listed(parts: readonly string[], maxBytes: number): string {
  const { kept, left } = newest(parts, maxBytes);
  return [...(left > 0 ? [`[${left} earlier left out]`] : []), ...kept].join('\n');
}

function traceOf(turn: readonly Message[], { redact, nonce }: EvidenceTools): string {
  const calls = new Map<string, ToolCall>();
  const parts: string[] = [];
  for (const message of turn) {
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call);
    if (message.role !== 'tool') continue;
    const asked = excerpt(redact(calls.get(message.callId)?.arguments ?? ''), ARGUMENT_BYTES);
    const result = excerpt(redact(unwrapUntrusted(message.content)?.body ?? message.content), RESULT_BYTES);
    parts.push(wrapUntrusted(`call: ${message.name} ${asked}\noutcome: ${message.outcome}\n${result}`, message.name, nonce()));
  }
  return listed(parts, TRACE_BYTES);
}

function earlierOf(before: readonly Message[], { redact, nonce }: EvidenceTools): string {
  const parts = before.flatMap((message) => {
    const said = (message.role === 'user' || message.role === 'assistant') && message.content.trim() !== '';
    return said ? [wrapUntrusted(excerpt(redact(message.content), EARLIER_PART_BYTES), `earlier ${message.role}`, nonce())] : [];
  });
  return listed(parts, EARLIER_BYTES);
}

/** The judge's user message: task, earlier turns, what was done, the answer. */
export function evidenceFor({ messages, answer }: Turn, tools: EvidenceTools): string {
  const at = messages.findLastIndex(({ role }) => role === 'user');
  const task = at === -1 ? '' : (messages[at]?.content ?? '');
  const wrapped = (text: string, max: number, source: string): string =>
    wrapUntrusted(excerpt(tools.redact(text), max), source, tools.nonce());
  const sections: readonly (readonly [title: string, text: string])[] = [
    ['Earlier in the conversation', earlierOf(messages.slice(0, Math.max(0, at)), tools)],
    ['Task', wrapped(task, TASK_BYTES, 'task')],
    ['Tool calls of this turn', traceOf(messages.slice(at + 1), tools) || '(none)'],
    ['Answer to judge', wrapped(answer, ANSWER_BYTES, 'answer')],
  ];
  return sections
    .filter(([, text]) => text !== '')
    .map(([title, text]) => `${title}:\n${text}`)
    .join('\n\n');
}
