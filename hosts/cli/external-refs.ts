import { ConfigError } from '../../ports/errors.ts';
import type { ExternalRef } from '../../ports/session.ts';
import type { FlagValue } from './command.ts';

const KIND = /^[a-z0-9_-]{1,64}$/;
const MAX_URI = 2048;
const MAX_CREATED_BY = 128;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

function fail(text: string, what: string, limit: unknown): never {
  throw new ConfigError('invalid_external_ref', `--external-ref ${text}: ${what}`, { value: text, limit });
}

function fieldsOf(text: string): Record<string, string> {
  const named: Record<string, string> = {};
  // `kind=uri` is the short form: one `=` sign names a kind that is not a field name.
  const short = /^([a-z0-9_-]+)=(.*)$/s.exec(text);
  if (short?.[1] && short[2] !== undefined && !['kind', 'uri', 'created_by', 'read_only'].includes(short[1])) {
    return { kind: short[1], uri: short[2], created_by: 'cli' };
  }
  for (const part of text.split(/,(?=(?:kind|uri|created_by|read_only)=)/)) {
    const at = part.indexOf('=');
    if (at < 1) fail(text, 'each part is key=value', 'kind, uri, created_by, read_only');
    named[part.slice(0, at)] = part.slice(at + 1);
  }
  return named;
}

/**
 * Parses one `--external-ref` value: `kind=..,uri=..,created_by=..[,read_only=..]` or `<kind>=<uri>`
 * (EXTENSIONS, "External-state-ref schema"). Throws `ConfigError` `invalid_external_ref`.
 */
function parseExternalRef(text: string, now: number): ExternalRef {
  const fields = fieldsOf(text);
  const { kind = '', uri = '', created_by = '', read_only = 'true', ...rest } = fields;
  const unknown = Object.keys(rest)[0];
  if (unknown !== undefined) fail(text, `unknown field "${unknown}"`, 'kind, uri, created_by, read_only');
  if (!KIND.test(kind)) fail(text, `kind is ${JSON.stringify(kind)}`, '1 to 64 of [a-z0-9_-]');
  if (uri.length < 1 || uri.length > MAX_URI || CONTROL.test(uri))
    fail(text, `uri has ${uri.length} characters or control characters`, MAX_URI);
  if (created_by.length < 1 || created_by.length > MAX_CREATED_BY)
    fail(text, `created_by has ${created_by.length} characters`, MAX_CREATED_BY);
  if (read_only !== 'true' && read_only !== 'false') fail(text, `read_only is ${JSON.stringify(read_only)}`, 'true or false');
  return { kind, uri, created_by, read_only: read_only === 'true', created_at: new Date(now).toISOString() };
}

/** Old and new references, without repeats of (kind, uri, created_by). */
export function mergeExternalRefs(old: readonly ExternalRef[], added: readonly ExternalRef[]): readonly ExternalRef[] {
  const seen = new Map<string, ExternalRef>();
  for (const ref of [...old, ...added]) {
    const key = JSON.stringify([ref.kind, ref.uri, ref.created_by]);
    if (!seen.has(key)) seen.set(key, ref);
  }
  return [...seen.values()];
}

/** References as they are stored: without the secrets that an address may hold. */
export function maskedRefs(refs: readonly ExternalRef[], redact: (text: string) => string): readonly ExternalRef[] {
  return refs.map((ref) => ({ ...ref, uri: redact(ref.uri), created_by: redact(ref.created_by) }));
}

/** The references of a command line, without repeats. `values` is what the repeatable flag collected. */
export function externalRefsOf(values: FlagValue | undefined, now: number): readonly ExternalRef[] {
  const texts = Array.isArray(values) ? (values as readonly string[]) : [];
  return mergeExternalRefs(
    [],
    texts.map((text) => parseExternalRef(text, now)),
  );
}
