import type { ToolDefinition } from '../../ports/llm.ts';
import type { Message } from '../../ports/message.ts';
import { utf8Length } from '../results/utf8.ts';

const PER_MESSAGE = 50;
const PER_TOOL_CALL = 30;
const PER_TOOL = 30;
const TOOL_TYPE = 'function';
/** Stands in for a schema that cannot be written as JSON. */
const UNKNOWN_SCHEMA = 200;

/** Tokens of a text, by its UTF-8 bytes divided by four, rounded up. */
export function estimateTokens(text: string): number {
  return Math.ceil(utf8Length(text) / 4);
}

function countMessage(message: Message): number {
  let tokens = PER_MESSAGE + estimateTokens(message.content);
  if (message.role === 'tool') tokens += estimateTokens(message.callId) + estimateTokens(message.name);
  if (message.role === 'assistant') {
    tokens += estimateTokens(message.reasoning ?? '');
    for (const call of message.toolCalls ?? []) {
      tokens += PER_TOOL_CALL + estimateTokens(call.id) + estimateTokens(call.name) + estimateTokens(call.arguments);
    }
  }
  return tokens;
}

function countTool(tool: ToolDefinition): number {
  let schema = UNKNOWN_SCHEMA;
  try {
    schema = estimateTokens(JSON.stringify(tool.parameters));
  } catch {
    // A cyclic schema keeps the fallback.
  }
  return PER_TOOL + estimateTokens(TOOL_TYPE) + estimateTokens(tool.name) + estimateTokens(tool.description) + schema;
}

function remembered<Key extends object>(count: (key: Key) => number): (key: Key) => number {
  const known = new WeakMap<Key, number>();
  return (key) => {
    const before = known.get(key);
    if (before !== undefined) return before;
    const tokens = count(key);
    known.set(key, tokens);
    return tokens;
  };
}

/** Tokens of one message, counted once for each message object. */
export const estimateMessage: (message: Message) => number = remembered(countMessage);

/** Tokens of one tool definition, counted once for each definition object. */
export const estimateTool: (tool: ToolDefinition) => number = remembered(countTool);

/** Tokens of a whole request. Messages and tools that were seen before cost a look-up only. */
export function estimateRequest(messages: readonly Message[], tools: readonly ToolDefinition[]): number {
  let tokens = 0;
  for (const message of messages) tokens += estimateMessage(message);
  for (const tool of tools) tokens += estimateTool(tool);
  return tokens;
}
