/** The process that runs other people's plugins. Descriptor 3 is its channel; when that ends, so does it. */
import { Socket } from 'node:net';
import process from 'node:process';
import { createChannel, messageOf, RpcFault } from '../../adapters/extension-host/channel.ts';
import { PROTOCOL, RPC } from '../../adapters/extension-host/protocol.ts';
import type { ActivateParams, CommandRunParams, HookEvaluateParams, OwnerRef, ToolCallParams } from '../../ports/extension-host.ts';
import { type Activations, createActivations } from './activation.ts';
import { allowedBuiltins } from './builtins.ts';
import { type Calls, createCalls } from './calls.ts';
import { createRoot } from './context.ts';
import { createLink, type Link } from './link.ts';
import { lockDown } from './lockdown.ts';
import { currentScope } from './owners.ts';
import { sharedPackages } from './packages.ts';
import { createRegistrations } from './registrations.ts';
import { selfTest } from './self-test.ts';
import { ownedTimers } from './timers.ts';

const CHANNEL = 3;
/** Kept before plugins can ask for it: ends the process at once. */
const exit = (process as unknown as { readonly reallyExit: (code: number) => never }).reallyExit.bind(process);
const onFault = process.setUncaughtExceptionCaptureCallback.bind(process);

interface Ready {
  readonly activations: Activations;
  readonly calls: Calls;
}

const stream = new Socket({ fd: CHANNEL, readable: true, writable: true });
let ready: Ready | undefined;

const channel = createChannel({
  side: 'host',
  stream,
  answer,
  notice: () => {},
  violated(reason) {
    process.stderr?.write(`odek broke the protocol: ${reason}\n`);
    exit(70);
  },
});
const link = createLink(channel);
stream.on('end', () => exit(0));
stream.on('error', () => exit(0));
channel.notify('host/hello', { protocol: PROTOCOL, runtime: { name: 'node', version: process.versions.node } });

async function answer(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
  if (method === 'host/ping') return {};
  if (method === 'host/shutdown') {
    setImmediate(() => exit(0));
    return {};
  }
  if (method === 'host/initialize') {
    if (ready !== undefined) throw new RpcFault(RPC.request, 'it is ready already');
    const { tried, parts } = await prepare(params as { readonly confined: boolean; readonly probe_port: number });
    ready = parts;
    return { tried };
  }
  if (ready === undefined) throw new RpcFault(RPC.unavailable, 'the host is not ready');
  const { activations, calls } = ready;
  switch (method) {
    case 'ext/activate':
      return activations.activate(params as ActivateParams);
    case 'ext/deactivate':
      return activations.deactivate((params as { readonly owner: OwnerRef }).owner);
    case 'tool/call':
      return calls.tool(params as ToolCallParams, signal);
    case 'command/run':
      return calls.command(params as CommandRunParams, signal);
    case 'hook/evaluate':
      return calls.hook(params as HookEvaluateParams, signal);
    default:
      throw new RpcFault(RPC.method, `there is no "${method}"`);
  }
}

/** Locks everything, tries it, and puts the services in place. */
async function prepare(params: {
  readonly confined: boolean;
  readonly probe_port: number;
}): Promise<{ readonly tried: readonly string[]; readonly parts: Ready }> {
  const timers = ownedTimers();
  const builtins = allowedBuiltins(timers);
  lockDown(link, timers);
  const tried = await selfTest({ confined: params.confined, port: params.probe_port });
  const registrations = createRegistrations(link);
  const shared = await createRoot(link, registrations);
  const activations = createActivations({ shared, registrations, link, packages: sharedPackages(), builtins });
  onFault((error: unknown) => faulted(error, activations, link));
  return { tried, parts: { activations, calls: createCalls(registrations, link) } };
}

/** Something was thrown where nobody catches: whoever it belongs to is disposed, the others go on. */
function faulted(error: unknown, activations: Activations, to: Link): void {
  const owner = currentScope()?.owner ?? activations.byStack(stackOf(error));
  to.faulted(messageOf(error), owner);
  if (owner !== undefined) void activations.deactivate(owner.ref);
}

function stackOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.stack) : '';
  } catch {
    return '';
  }
}
