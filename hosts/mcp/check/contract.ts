import { setTimeout as delay } from 'node:timers/promises';
import { checkFixtures } from './fixtures.ts';
import { checkFraming } from './framing.ts';
import { type Check, type CheckOptions, type Finding, type Line, type ListedTool, patienceOf, type Verdict } from './line.ts';
import { checkListing } from './listing.ts';
import { type Peer, startPeer } from './peer.ts';

const OFFERED_VERSION = '2025-03-26';
const KNOWN_VERSIONS = new Set(['2026-07-28', '2025-11-25', '2025-06-18', OFFERED_VERSION, '2024-11-05']);
const QUIET_MS = 150;

const CLIENT = { name: 'odek-extension-check', version: '1' };

function initialise(peer: Peer, protocolVersion: string) {
  return peer.request('initialize', { protocolVersion, capabilities: {}, clientInfo: CLIENT });
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';

async function checkHandshake(peer: Peer, check: Check): Promise<boolean> {
  let ok = false;
  await check('handshake', 'handshake', 'answers initialize', async () => {
    const { result, error } = await initialise(peer, OFFERED_VERSION);
    if (result === undefined) return `it answered with an error: ${String(error?.message)}`;
    ok = true;
    if (!KNOWN_VERSIONS.has(String(result.protocolVersion))) return `protocolVersion is ${JSON.stringify(result.protocolVersion)}`;
    const info = result.serverInfo as { name?: unknown; version?: unknown } | undefined;
    if (!isText(info?.name) || !isText(info.version)) return 'serverInfo needs a name and a version';
    const capabilities = result.capabilities as { tools?: unknown } | undefined;
    return typeof capabilities?.tools === 'object' ? undefined : 'capabilities does not name tools';
  });
  if (ok) peer.notify('notifications/initialized');
  return ok;
}

async function checkUnknownVersion(options: CheckOptions, check: Check): Promise<void> {
  await check('handshake.version', 'handshake', 'offers a version of its own to a client with an unknown one', async () => {
    const peer = startPeer(options);
    try {
      const { result, error } = await initialise(peer, '1999-12-31');
      if (error !== undefined) return undefined;
      return KNOWN_VERSIONS.has(String(result?.protocolVersion)) ? undefined : `it answered ${JSON.stringify(result?.protocolVersion)}`;
    } finally {
      await peer.end(patienceOf(options));
    }
  });
}

/** A call of `echo`, which is harmless wherever it is there, with a word for each text that it needs. */
function echoCall(tools: readonly ListedTool[]): CheckOptions['call'] {
  const schema = tools.find(({ name }) => name === 'echo')?.inputSchema as { readonly required?: unknown } | undefined;
  if (schema === undefined) return undefined;
  const required = Array.isArray(schema.required) ? schema.required.map(String) : [];
  return { tool: 'echo', input: Object.fromEntries(required.map((name) => [name, 'odek'])) };
}

async function checkRequests(peer: Peer, tools: readonly ListedTool[], options: CheckOptions, check: Check): Promise<void> {
  await check('ping', 'requests', 'answers ping with an empty object', async () => {
    const { result } = await peer.request('ping');
    return result !== undefined && Object.keys(result).length === 0 ? undefined : 'the result is not {}';
  });
  await check('requests.unknown', 'requests', 'answers an unknown method with error -32601', async () => {
    const { error } = await peer.request('odek/no-such-method');
    return error?.code === -32601 ? undefined : `it answered ${error === undefined ? 'with a result' : `with code ${String(error.code)}`}`;
  });
  await check('requests.tool', 'calls', 'refuses a tool that does not exist', async () => {
    const { result, error } = await peer.request('tools/call', { name: 'odek_no_such_tool', arguments: {} });
    return error !== undefined || result?.isError === true ? undefined : 'it answered with a result that is no error';
  });
  await check('calls.unknown-arguments', 'calls', 'tolerates arguments that it does not know', async () => {
    const call = options.call ?? echoCall(tools);
    if (call === undefined) return { skip: 'no tool is known to be harmless; name one with --call' };
    const { result, error } = await peer.request('tools/call', { name: call.tool, arguments: { ...call.input, odek_unknown: { a: 1 } } });
    if (error !== undefined) return `${call.tool}: it answered with an error: ${String(error.message)}`;
    if (result?.isError === true) return `${call.tool}: the result is an error: ${JSON.stringify(result.content).slice(0, 200)}`;
    return Array.isArray(result?.content) ? undefined : `${call.tool}: the result has no content`;
  });
  await check('notifications', 'notifications', 'ignores a notification that it does not know, without an answer', async () => {
    peer.notify('notifications/odek_unknown', { a: 1 });
    await peer.request('ping');
    await delay(QUIET_MS);
    return peer.strays.length === 0 ? undefined : `it sent answers that nobody waits for, with id ${peer.strays.join(', ')}`;
  });
}

async function checkStreams(peer: Peer, patienceMs: number, check: Check): Promise<void> {
  await check('stdout', 'streams', 'writes nothing but messages to standard output', () =>
    peer.noise.length === 0 ? undefined : `${peer.noise.length} lines were no message, the first: ${JSON.stringify(peer.noise[0])}`,
  );
  await check('stderr', 'streams', 'writes to standard error in measure', () =>
    peer.stderrBytes <= 1024 * 1024 ? undefined : `${peer.stderrBytes} bytes during this check, the limit here is 1048576`,
  );
  await check('end', 'end', 'ends by itself when standard input ends', async () => {
    if (!peer.isRunning()) return 'it was gone before';
    const exit = await peer.end(patienceMs);
    if (exit === undefined) return `it was still there ${patienceMs} ms later and was killed`;
    return exit.code === 0 ? undefined : `it ended with ${exit.signal ?? `exit code ${exit.code}`}`;
  });
}

/**
 * Compares a server with the contract of `docs/extensions.md`. Only harmless requests are sent, and no tool
 * is called but the fixtures of the reference server and the one that `call` names. Leaves nothing running.
 */
export async function checkExtension(options: CheckOptions): Promise<readonly Line[]> {
  const lines: Line[] = [];
  const check: Check = async (id, section, title, look) => {
    if (options.signal.aborted) return;
    let finding: Finding;
    try {
      finding = await look();
    } catch (error) {
      finding = error instanceof Error ? error.message : String(error);
    }
    const skipped = typeof finding === 'object';
    const verdict: Verdict = finding === undefined ? 'pass' : skipped ? 'skip' : 'fail';
    const line: Line = { id, section, title, verdict, detail: typeof finding === 'object' ? finding.skip : (finding ?? '') };
    lines.push(line);
    options.onLine?.(line);
  };
  const peer = startPeer(options);
  const onAbort = (): void => void peer.end(0);
  options.signal.addEventListener('abort', onAbort, { once: true });
  try {
    if (await checkHandshake(peer, check)) {
      await checkUnknownVersion(options, check);
      const tools = await checkListing(peer, options.validator, check);
      await checkRequests(peer, tools, options, check);
      await checkFraming(peer, patienceOf(options), check);
      await checkFixtures(peer, tools, options, check);
    }
    await checkStreams(peer, patienceOf(options), check);
  } finally {
    options.signal.removeEventListener('abort', onAbort);
    await peer.end(0);
  }
  return lines;
}
