import type { AssistantMessage, Message, SystemMessage, ToolMessage, UserMessage } from '../../../ports/message.ts';

/** How a format with alternating turns writes its blocks: JSON objects, joined by commas, as bytes. Empty: nothing to send. */
export interface BlockEncoder {
  user(message: UserMessage | SystemMessage, isFirst: boolean): Uint8Array;
  result(message: ToolMessage): Uint8Array;
  assistant(message: AssistantMessage): Uint8Array;
  /** A user's block that odek adds where the format wants one. */
  filler(text: string): Uint8Array;
}

interface Turn {
  readonly role: 'user' | 'assistant';
  /** Results come first in a turn, as the formats demand. */
  readonly results: Uint8Array[];
  readonly blocks: Uint8Array[];
}

/** What stands before a turn's blocks. */
export interface TurnHeads {
  readonly user: Uint8Array;
  readonly assistant: Uint8Array;
}

/** `assistant`: what the format calls that role; `blocks`: the key of a turn's blocks. */
export function turnHeads({ assistant, blocks }: { readonly assistant: string; readonly blocks: string }): TurnHeads {
  const head = (role: string): Uint8Array => utf8.encode(`{"role":"${role}","${blocks}":[`);
  return { user: head('user'), assistant: head(assistant) };
}

const utf8 = new TextEncoder();
const COMMA = utf8.encode(',');
const CLOSE = utf8.encode(']}');

/** The system messages at the head, which these formats keep apart from the turns. */
export function splitHead(messages: readonly Message[]): { readonly head: readonly SystemMessage[]; readonly rest: readonly Message[] } {
  const end = messages.findIndex((message) => message.role !== 'system');
  const at = end === -1 ? messages.length : end;
  return { head: messages.slice(0, at) as SystemMessage[], rest: messages.slice(at) };
}

/** A system message in the midst of the turns, as text for a user's turn. */
export function systemNote({ content }: SystemMessage): string {
  return `<system-note>\n${content}\n</system-note>`;
}

/**
 * The turns as pieces of a JSON list's content: neighbours of one role joined, a user's turn first
 * and last, whatever was trimmed away before them.
 */
export function encodeTurns(messages: readonly Message[], encoder: BlockEncoder, heads: TurnHeads): Uint8Array[] {
  const turns: Turn[] = [];
  const turnOf = (role: Turn['role']): Turn => {
    const last = turns.at(-1);
    if (last?.role === role) return last;
    const next: Turn = { role, results: [], blocks: [] };
    turns.push(next);
    return next;
  };
  let isFirst = true;
  for (const message of messages) {
    const bytes = encodeMessage(message, encoder, isFirst);
    if (message.role === 'user') isFirst = false;
    if (bytes.length === 0) continue;
    if (message.role === 'assistant' && turns.length === 0) turnOf('user').blocks.push(encoder.filler('(The beginning was left out.)'));
    const turn = turnOf(message.role === 'assistant' ? 'assistant' : 'user');
    (message.role === 'tool' ? turn.results : turn.blocks).push(bytes);
  }
  if (turns.at(-1)?.role !== 'user') turnOf('user').blocks.push(encoder.filler('Go on.'));
  return turns.flatMap((turn, index) => turnPieces(turn, index, heads));
}

function encodeMessage(message: Message, encoder: BlockEncoder, isFirst: boolean): Uint8Array {
  if (message.role === 'tool') return encoder.result(message);
  if (message.role === 'assistant') return encoder.assistant(message);
  return encoder.user(message, isFirst && message.role === 'user');
}

function turnPieces({ role, results, blocks }: Turn, index: number, heads: TurnHeads): Uint8Array[] {
  const pieces: Uint8Array[] = index === 0 ? [heads[role]] : [COMMA, heads[role]];
  for (const [at, block] of [...results, ...blocks].entries()) {
    if (at > 0) pieces.push(COMMA);
    pieces.push(block);
  }
  pieces.push(CLOSE);
  return pieces;
}

/** Blocks as bytes, kept as long as what they were made of. */
export function createBlockCache<Key extends object>(encode: (key: Key) => readonly object[]): (key: Key) => Uint8Array {
  const known = new WeakMap<Key, Uint8Array>();
  return (key) => {
    let bytes = known.get(key);
    if (bytes === undefined) {
      const blocks = encode(key);
      bytes = utf8.encode(blocks.map((block) => JSON.stringify(block)).join(','));
      known.set(key, bytes);
    }
    return bytes;
  };
}

/** A call's arguments as the object that formats with parsed arguments want; `{}` for anything else. */
export function argumentsObject(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
  } catch {
    return {};
  }
}
