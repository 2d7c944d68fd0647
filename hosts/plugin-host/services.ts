import { judgeRead } from '../../core/approvals/path-rules.ts';
import { utf8Length } from '../../core/results/utf8.ts';
import { isOdekError } from '../../ports/errors.ts';
import { HostRefusal, type HostService, type ServiceCallParams } from '../../ports/extension-host.ts';
import type { CallInHost } from './call.ts';
import type { Shared } from './parts.ts';

const MAX_FILE_BYTES = 1_048_576;
const MAX_ENTRIES = 1000;
const MAX_BODY_BYTES = 1_048_576;
const MAX_HEADERS = 64;
const HEADERS_MS = 30_000;
const MAX_PROMPT_BYTES = 131_072;
const MAX_TOKENS = 4096;

type Input = Readonly<Record<string, unknown>>;

function refused(message: string, refusal: string): HostRefusal {
  return new HostRefusal('refused', message, refusal);
}

function textOf(input: Input, key: string, limit: number): string {
  const value = input[key];
  if (typeof value !== 'string') throw refused(`"${key}" must be text`, 'invalid_input');
  if (utf8Length(value) > limit) throw refused(`"${key}" has ${utf8Length(value)} bytes, the limit is ${limit}`, 'invalid_input');
  return value;
}

/** A path in the workspace that the file guard calls harmless, below a folder that the review named, if it named any. */
async function readablePath(input: Input, { owned }: CallInHost, { fs }: Shared): Promise<string> {
  const path = textOf(input, 'path', 4096);
  const { class: cls, reason, refused: isRefused } = await judgeRead(path, fs);
  if (isRefused || cls !== 'safe') throw refused(`"${path}" cannot be read: ${reason}`, 'path_refused');
  const { filesystemRoots: roots } = owned.bundle.capabilities;
  if (roots.length === 0) return path;
  const { real } = await fs.resolve(path);
  const granted = await Promise.all(roots.map(async (root) => (await fs.resolve(root)).real));
  if (!granted.some((root) => real === root || real.startsWith(`${root}/`))) {
    throw refused(`"${path}" cannot be read: the review named other folders: ${roots.join(', ')}`, 'path_refused');
  }
  return path;
}

async function files(operation: string, input: Input, call: CallInHost, shared: Shared, signal: AbortSignal): Promise<unknown> {
  const path = await readablePath(input, call, shared);
  if (operation === 'read') {
    const { bytes, size } = await shared.fs.read(path, { maxBytes: MAX_FILE_BYTES, signal });
    if (bytes.includes(0)) throw refused(`"${path}" is not text`, 'not_text');
    return { content: shared.redact(new TextDecoder().decode(bytes)), size, truncated: size > bytes.length };
  }
  if (operation !== 'list') throw refused(`files has no operation "${operation.slice(0, 64)}"`, 'unknown_operation');
  const entries: { path: string; kind: string; size: number }[] = [];
  for await (const { path: name, kind, size, credential } of shared.fs.list(path, { depth: 1 }, signal)) {
    if (credential) continue;
    if (entries.length >= MAX_ENTRIES) return { entries, truncated: true };
    entries.push({ path: name, kind, size });
  }
  return { entries, truncated: false };
}

/** Whether a review named this host, with or without its port. */
export function isReviewed({ hostname, port, protocol }: URL, hosts: readonly string[]): boolean {
  const actual = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  return hosts.includes(`${hostname}:${actual}`) || (port === '' && hosts.includes(hostname));
}

function headersOf(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  const entries = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.entries(value) : undefined;
  if (entries === undefined || entries.length > MAX_HEADERS || !entries.every(([, text]) => typeof text === 'string')) {
    throw refused(`"headers" must be an object of at most ${MAX_HEADERS} texts`, 'invalid_input');
  }
  return Object.fromEntries(entries) as Record<string, string>;
}

async function bodyOf(body: AsyncIterable<Uint8Array>): Promise<{ readonly text: string; readonly truncated: boolean }> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    const room = MAX_BODY_BYTES - size;
    chunks.push(chunk.length > room ? chunk.subarray(0, room) : chunk);
    size += chunk.length;
    if (size > MAX_BODY_BYTES) break;
  }
  return { text: Buffer.concat(chunks).toString('utf8'), truncated: size > MAX_BODY_BYTES };
}

async function network(operation: string, input: Input, { owned }: CallInHost, shared: Shared, signal: AbortSignal): Promise<unknown> {
  if (operation !== 'request') throw refused(`network has no operation "${operation.slice(0, 64)}"`, 'unknown_operation');
  const address = textOf(input, 'url', 8192);
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol)) throw refused('"url" must be an http or https address', 'invalid_input');
  if (url.username !== '' || url.password !== '') throw refused('"url" may not hold a user', 'invalid_input');
  if (!isReviewed(url, owned.bundle.capabilities.networkHosts))
    throw refused(`the review did not name the host ${url.host}`, 'host_refused');
  const method = input.method === undefined ? 'GET' : textOf(input, 'method', 16).toUpperCase();
  const body = input.body === undefined ? {} : { body: textOf(input, 'body', MAX_BODY_BYTES) };
  const headers = headersOf(input.headers);
  const response = await shared.http.request({ method, url: url.href, headers, headersTimeoutMs: HEADERS_MS, ...body }, signal);
  try {
    return { status: response.status, headers: response.headers, ...(await bodyOf(response.body)) };
  } finally {
    response.cancel();
  }
}

async function model(operation: string, input: Input, { services }: CallInHost, signal: AbortSignal): Promise<unknown> {
  if (operation !== 'complete') throw refused(`model has no operation "${operation.slice(0, 64)}"`, 'unknown_operation');
  const prompt = textOf(input, 'prompt', MAX_PROMPT_BYTES);
  const system = input.system === undefined ? [] : [{ role: 'system', content: textOf(input, 'system', MAX_PROMPT_BYTES) } as const];
  const wish = input.max_tokens ?? 1024;
  if (typeof wish !== 'number' || !Number.isInteger(wish) || wish < 1 || wish > MAX_TOKENS) {
    throw refused(`"max_tokens" must be a whole number from 1 to ${MAX_TOKENS}`, 'invalid_input');
  }
  const text = await services?.complete([...system, { role: 'user', content: prompt }], wish, signal);
  if (text === undefined) throw refused('the budget of the run, its model or the time allows no completion', 'unavailable');
  return { text };
}

const SERVE: Readonly<
  Record<HostService, (operation: string, input: Input, call: CallInHost, shared: Shared, signal: AbortSignal) => Promise<unknown>>
> = {
  files,
  network,
  model: (operation, input, call, _shared, signal) => model(operation, input, call, signal),
};

/** What a granted service gives. Rejects with {@link HostRefusal} where it gives nothing. */
export async function serve(params: ServiceCallParams, call: CallInHost, shared: Shared, signal: AbortSignal): Promise<unknown> {
  const input = typeof params.input === 'object' && params.input !== null && !Array.isArray(params.input) ? (params.input as Input) : {};
  const work = Object.hasOwn(SERVE, params.service) ? SERVE[params.service] : undefined;
  if (work === undefined) throw refused(`there is no service "${String(params.service).slice(0, 64)}"`, 'not_granted');
  try {
    return await work(params.operation, input, call, shared, signal);
  } catch (error) {
    if (error instanceof HostRefusal || signal.aborted) throw error;
    // Its own words may hold a path or an address of this machine.
    throw new HostRefusal(
      'failed',
      isOdekError(error) ? error.message : `${params.service} failed`,
      isOdekError(error) ? error.code : 'failed',
    );
  }
}
