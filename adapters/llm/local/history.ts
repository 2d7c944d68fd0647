import type { ToolDefinition } from '../../../ports/llm.ts';
import type { AssistantMessage, Message, ToolMessage } from '../../../ports/message.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject } from '../json-reading.ts';
import { argumentsObject } from '../wire/turns.ts';
import type { LlamaGeneration, LlamaHistoryItem, LlamaResponsePart } from './module.ts';

/**
 * The conversation as a model file's chat: a call stands with its result in the turn that made it,
 * and the last item is the turn to be written.
 */
export function toHistory(messages: readonly Message[], provider: string): readonly LlamaHistoryItem[] {
  const results = new Map<string, ToolMessage>();
  for (const message of messages) if (message.role === 'tool') results.set(message.callId, message);
  const items: LlamaHistoryItem[] = [];
  const addTurn = (parts: readonly LlamaResponsePart[]): void => {
    const last = items.at(-1);
    if (last?.type === 'model') items[items.length - 1] = { type: 'model', response: [...last.response, ...parts] };
    else items.push({ type: 'model', response: parts });
  };
  for (const message of messages) {
    if (message.role === 'assistant') addTurn(turnParts(message, results, provider));
    else if (message.role !== 'tool') items.push({ type: message.role, text: message.content });
  }
  addTurn([]);
  return items;
}

function turnParts(message: AssistantMessage, results: ReadonlyMap<string, ToolMessage>, provider: string): readonly LlamaResponsePart[] {
  const isOwn = message.origin === undefined || message.origin === provider;
  const thought: LlamaResponsePart[] =
    message.reasoning !== undefined && isOwn ? [{ type: 'segment', segmentType: 'thought', text: message.reasoning, ended: true }] : [];
  const calls = (message.toolCalls ?? []).map(
    (call, index): LlamaResponsePart => ({
      type: 'functionCall',
      name: call.name,
      params: argumentsObject(call.arguments),
      result: results.get(call.id)?.content ?? '',
      ...(index === 0 ? { startsNewChunk: true } : {}),
    }),
  );
  return [...thought, ...(message.content === '' ? [] : [message.content]), ...calls];
}

/** The tools as functions by name; undefined for none. */
export function toFunctions(tools: readonly ToolDefinition[]): LlamaGeneration['functions'] {
  if (tools.length === 0) return undefined;
  return Object.fromEntries(
    tools.map(({ name, description, parameters }) => {
      const hasParameters = Object.keys(asObject(parameters.properties) ?? {}).length > 0;
      return [name, { description, ...(hasParameters ? { params: toGrammarSchema(parameters, 0) } : {}) }];
    }),
  );
}

const MAX_DEPTH = 24;
const SCALARS: ReadonlySet<unknown> = new Set(['string', 'number', 'integer', 'boolean', 'null']);

/** A schema in the words that the grammar knows. What it cannot say becomes any text; arguments are validated later. */
function toGrammarSchema(schema: JsonObject, depth: number): object {
  const description = typeof schema.description === 'string' ? { description: schema.description } : {};
  const next = (value: unknown): object => toGrammarSchema(asObject(value) ?? {}, depth + 1);
  const choices = schema.anyOf ?? schema.oneOf;
  if (depth > MAX_DEPTH) return { type: 'object', additionalProperties: true };
  if (schema.const !== undefined) return { const: schema.const, ...description };
  if (Array.isArray(schema.enum)) return { enum: schema.enum, ...description };
  if (Array.isArray(choices)) return { oneOf: choices.map(next), ...description };
  if (schema.type === 'array') return { type: 'array', items: next(schema.items), ...description };
  if (schema.type === 'object' || schema.properties !== undefined) {
    const properties = Object.entries(asObject(schema.properties) ?? {}).map(([name, value]) => [name, next(value)] as const);
    if (properties.length === 0) return { type: 'object', additionalProperties: true, ...description };
    const required = Array.isArray(schema.required) ? { required: schema.required } : { required: [] };
    return { type: 'object', properties: Object.fromEntries(properties), ...required, ...description };
  }
  const types = [schema.type].flat().filter((type) => SCALARS.has(type));
  return { type: types.length > 1 ? types : (types[0] ?? 'string'), ...description };
}
