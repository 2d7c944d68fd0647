import { PROTOCOL_VERSION_META_KEY } from '@modelcontextprotocol/client';
import type { HttpResponse } from '../../ports/http.ts';
import { isFields } from './fields.ts';

/** The parameter that the header `mcp-name` repeats. */
const NAMED_BY: Readonly<Record<string, string>> = { 'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri' };
const PLAIN = /^[\t\x20-\x7e]*$/;
const ENCODED_START = '=?base64?';
const ENCODED_END = '?=';

type Message = Readonly<Record<PropertyKey, unknown>>;

/** Headers of a request that says in its `_meta` which version it speaks: they repeat what the body says. */
export function bodyHeaders(message: Message): Readonly<Record<string, string>> {
  const version = versionOf(message);
  const { method, params } = message;
  if (version === undefined || typeof method !== 'string') return {};
  const field = Object.hasOwn(NAMED_BY, method) ? NAMED_BY[method] : undefined;
  const name = field !== undefined && isFields(params) ? params[field] : undefined;
  return { 'mcp-protocol-version': version, 'mcp-method': method, ...(typeof name === 'string' ? { 'mcp-name': headerText(name) } : {}) };
}

/** Whether a request belongs to no session, but says all about itself. */
export function isModernRequest(message: Message): boolean {
  return versionOf(message) !== undefined;
}

function versionOf({ params, id }: Message): string | undefined {
  if (id === undefined || !isFields(params) || !isFields(params._meta)) return undefined;
  const version = params._meta[PROTOCOL_VERSION_META_KEY];
  return typeof version === 'string' ? version : undefined;
}

/** Text as the value of a header: encoded where it could not stand there as it is. */
export function headerText(text: string): string {
  const looksEncoded = text.startsWith(ENCODED_START) && text.endsWith(ENCODED_END);
  if (text !== '' && PLAIN.test(text) && text === text.trim() && !looksEncoded) return text;
  return `${ENCODED_START}${Buffer.from(text).toString('base64')}${ENCODED_END}`;
}

/** Where a redirect leads that may be followed: within the origin, with method and body kept. */
export function nextLocation({ status, headers }: HttpResponse, from: string): string | undefined {
  if (status !== 307 && status !== 308) return undefined;
  const target = headers.location === undefined ? null : URL.parse(headers.location, from);
  if (target === null || target.origin !== new URL(from).origin || target.username !== '' || target.password !== '') return undefined;
  return target.href;
}
