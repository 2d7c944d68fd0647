import type { McpCallResult, McpContent, McpToolDefinition } from '../../ports/mcp.ts';
import { TransportFault } from './faults.ts';
import { isFields } from './fields.ts';
import type { RawResult } from './raw-results.ts';

type Fields = Readonly<Record<PropertyKey, unknown>>;

/** What a server answered to a call, in the port's words. Throws {@link TransportFault} for something that is no result. */
export function callResultOf({ value: raw, bytes }: RawResult): McpCallResult {
  if (!isFields(raw)) throw new TransportFault({ kind: 'bad_message', why: 'the result is not an object' });
  const { content, structuredContent, isError } = raw;
  if (content !== undefined && !Array.isArray(content))
    throw new TransportFault({ kind: 'bad_message', why: 'the content of the result is not a list' });
  if (content === undefined && structuredContent === undefined) {
    throw new TransportFault({ kind: 'bad_message', why: 'the result has neither content nor structuredContent' });
  }
  return {
    content: (content ?? []).map(contentOf),
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
    isError: isError === true,
    bytes,
  };
}

function contentOf(part: unknown): McpContent {
  if (!isFields(part)) return unknownContent(typeof part);
  const { type, text, data, uri, name, resource } = part;
  switch (type) {
    case 'text':
      return typeof text === 'string' ? { type, text } : unknownContent('text without text');
    case 'image':
    case 'audio':
      return { type, mimeType: textOf(part.mimeType), bytes: typeof data === 'string' ? decodedBytes(data) : 0 };
    case 'resource_link':
      return { type, uri: textOf(uri), name: textOf(name) };
    case 'resource':
      return isFields(resource) ? resourceOf(resource) : unknownContent('resource without a resource');
    default:
      return unknownContent(textOf(type));
  }
}

function resourceOf({ uri, text, mimeType }: Fields): McpContent {
  return {
    type: 'resource',
    uri: textOf(uri),
    ...(typeof text === 'string' ? { text } : {}),
    ...(typeof mimeType === 'string' ? { mimeType } : {}),
  };
}

/** A kind that is not known is told, not dropped. */
function unknownContent(kind: string): McpContent {
  return { type: 'text', text: `[content of a kind that is not supported: ${kind.slice(0, 100)}]` };
}

function decodedBytes(base64: string): number {
  const padding = base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0;
  return Math.max(0, Math.floor((base64.length * 3) / 4) - padding);
}

/** A tool of a listing; the text says why something is none. */
export function definitionOf(raw: unknown): McpToolDefinition | string {
  if (!isFields(raw)) return 'a tool that is not an object was left out';
  const { name, description, inputSchema, outputSchema, annotations } = raw;
  if (typeof name !== 'string' || name === '') return 'a tool without a name was left out';
  if (inputSchema !== undefined && !isFields(inputSchema)) return `the tool ${shown(name)} was left out: its inputSchema is not an object`;
  return {
    name,
    description: textOf(description),
    inputSchema: inputSchema ?? { type: 'object' },
    ...(isFields(outputSchema) ? { outputSchema } : {}),
    ...(isFields(annotations) ? { annotations } : {}),
  };
}

/** A name of a server in a line of ours. */
export function shown(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
