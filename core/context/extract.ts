/** What can be said of messages without asking a model: the digest that stands until a better one arrives. */
import type { Message, ToolCall, ToolMessage } from '../../ports/message.ts';
import { utf8Head, utf8Length } from '../results/utf8.ts';
import { unwrapUntrusted } from '../untrusted/wrapper.ts';
import { type Digest, EMPTY_DIGEST, mergeDigests, note } from './digest-sections.ts';

const MAX_ARGUMENT_CHARS = 120;
/** Arguments that say what a call was about, most telling first. */
const TELLING = ['path', 'paths', 'file', 'command', 'pattern', 'query', 'url', 'name', 'id'];
const FILE_ARGUMENTS = ['path', 'paths', 'file'];

const EXCERPT_BYTES = 1000;

function argumentsOf(call: ToolCall): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(call.arguments);
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

function labelOf(call: ToolCall, args: Readonly<Record<string, unknown>>): string {
  const telling = TELLING.find((name) => args[name] !== undefined);
  const about = telling === undefined ? call.arguments : text(args[telling]);
  return note(`${call.name} ${about === '{}' ? '' : about.slice(0, MAX_ARGUMENT_CHARS)}`);
}

/** What a tool said, without the box and the wrapper around it. */
function bodyOf(message: ToolMessage): string {
  return unwrapUntrusted(message.content)?.body ?? message.content.replaceAll(/^[┌└]── .*$/gm, '');
}

function digestOfCall(call: ToolCall, result: ToolMessage | undefined): Digest {
  const args = argumentsOf(call);
  const label = labelOf(call, args);
  const files = FILE_ARGUMENTS.flatMap((name) => args[name] ?? []).map((file) => note(text(file)));
  const completed = result === undefined || result.outcome === 'completed';
  return {
    ...EMPTY_DIGEST,
    'Files and symbols': files,
    Done: completed ? [label] : [],
    'Errors still open': completed ? [] : [note(`${label}: ${result.outcome}: ${bodyOf(result)}`)],
  };
}

function digestOfMessage(message: Message): Digest {
  if (message.role === 'user') return { ...EMPTY_DIGEST, Task: [note(message.content)] };
  if (message.role !== 'assistant' || message.content.trim() === '') return EMPTY_DIGEST;
  return { ...EMPTY_DIGEST, Decisions: [note(message.content)] };
}

/** Notes on messages that leave the view, calls with their results behind them. Linear in their number. */
export function extractDigest(messages: readonly Message[]): Digest {
  const parts: Digest[] = [];
  messages.forEach((message, index) => {
    parts.push(digestOfMessage(message));
    if (message.role !== 'assistant') return;
    (message.toolCalls ?? []).forEach((call, at) => {
      const result = messages[index + 1 + at];
      parts.push(digestOfCall(call, result?.role === 'tool' ? result : undefined));
    });
  });
  return mergeAll(parts);
}

/** Pairwise, so that no note is copied once for each message. */
function mergeAll(parts: readonly Digest[]): Digest {
  if (parts.length <= 2) return mergeDigests(parts[0] ?? EMPTY_DIGEST, parts[1] ?? EMPTY_DIGEST);
  const middle = parts.length >> 1;
  return mergeDigests(mergeAll(parts.slice(0, middle)), mergeAll(parts.slice(middle)));
}

/** One message as the side call reads it: at most 1000 bytes of its text, and the names of the tools it called. */
export function excerptOf(message: Message): string {
  const said = message.role === 'tool' ? bodyOf(message) : message.content;
  const cut = utf8Length(said) > EXCERPT_BYTES ? `${utf8Head(said, EXCERPT_BYTES)}…` : said;
  const calls =
    message.role === 'assistant' && message.toolCalls?.length
      ? ` [called tools: ${message.toolCalls.map((call) => call.name).join(', ')}]`
      : '';
  const who = message.role === 'tool' ? `tool ${message.name} (${message.outcome})` : message.role;
  return `${who}:${calls} ${cut}`;
}
