import { messageOf, RpcFault } from '../../adapters/extension-host/channel.ts';
import { RPC } from '../../adapters/extension-host/protocol.ts';
import type { CommandRunParams, HookEvaluateParams, RegistrationKind, ToolCallParams } from '../../ports/extension-host.ts';
import { type CommandHandler, runCommand } from './commands.ts';
import { coreOf } from './core-calls.ts';
import { evaluateHook, type HookListener } from './hooks.ts';
import type { Link } from './link.ts';
import { type Invocation, type Owner, runAs } from './owners.ts';
import type { Live, Registrations } from './registrations.ts';
import { answerOf, type Tool } from './tools.ts';

/** Calls of core into what plugins registered. */
export interface Calls {
  tool(params: ToolCallParams, signal: AbortSignal): Promise<unknown>;
  command(params: CommandRunParams, signal: AbortSignal): Promise<unknown>;
  hook(params: HookEvaluateParams, signal: AbortSignal): Promise<unknown>;
}

/** For a plugin that hears its signal to end by itself. */
const SETTLE_MS = 250;
const later = setTimeout;
const sooner = clearTimeout;

export function createCalls(registrations: Registrations, link: Link): Calls {
  const find = (handle: string, kind: RegistrationKind): Live => {
    const live = registrations.get(handle);
    if (live === undefined || live.spec.kind !== kind || live.entry.owner.closed) throw gone(kind);
    return live;
  };

  return {
    tool(params, signal) {
      const live = find(params.handle, 'tool');
      const { owner } = live.entry;
      return invoked(owner, params.ticket, signal, async (invocation) => {
        const tool = live.target as Tool;
        const exec = toolExecution(params, invocation, owner, link);
        return answerOf(tool, await tool.execute(params.input, exec), owner, link);
      });
    },
    command(params, signal) {
      const live = find(params.handle, 'command');
      const { owner } = live.entry;
      return invoked(owner, undefined, signal, (invocation) =>
        runCommand(live.target as CommandHandler, params, { signal: invocation.signal, dataDir: owner.dataDir }),
      );
    },
    hook(params, signal) {
      const live = find(params.handle, 'hook');
      const { owner } = live.entry;
      return invoked(owner, undefined, signal, (invocation) =>
        evaluateHook(live.target as HookListener, params, invocation.signal, owner, link),
      );
    },
  };
}

function gone(kind: RegistrationKind): RpcFault {
  return new RpcFault(RPC.unavailable, `this ${kind} is not registered any more`);
}

/** Runs plugin code for one call, which is withdrawn by core's signal or with its owner. */
async function invoked<Result>(
  owner: Owner,
  ticket: string | undefined,
  signal: AbortSignal,
  work: (invocation: Invocation) => Promise<Result>,
): Promise<Result> {
  const controller = new AbortController();
  const invocation: Invocation = { ticket, signal: controller.signal, isOpen: true };
  const withdrawn = Promise.withResolvers<never>();
  withdrawn.promise.catch(() => {});
  let timer: NodeJS.Timeout | undefined;
  controller.signal.addEventListener('abort', () => {
    const reason = owner.closed ? gone('tool') : new RpcFault(RPC.cancelled, 'cancelled');
    timer = later(() => withdrawn.reject(reason), owner.closed ? 0 : SETTLE_MS);
  });
  const abort = (): void => controller.abort();
  owner.running.add(controller);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const own = runAs({ owner, invocation }, async () => work(invocation));
    own.catch(() => {});
    return await Promise.race([own, withdrawn.promise]);
  } catch (error) {
    if (error instanceof RpcFault) throw error;
    if (owner.closed) throw gone('tool');
    if (controller.signal.aborted) throw new RpcFault(RPC.cancelled, 'cancelled');
    throw new RpcFault(RPC.failed, messageOf(error));
  } finally {
    invocation.isOpen = false;
    sooner(timer);
    signal.removeEventListener('abort', abort);
    owner.running.delete(controller);
    // What the call asked of core ends with it.
    controller.abort();
  }
}

function toolExecution(params: ToolCallParams, invocation: Invocation, owner: Owner, link: Link): object {
  const { workspace, session_id: sessionId, agent_id: agentId, origin_turn_id: originTurnId, ticket } = params;
  const agent =
    sessionId === undefined || workspace === undefined
      ? undefined
      : Object.freeze({ id: agentId ?? sessionId, session: Object.freeze({ header: Object.freeze({ cwd: workspace }) }) });
  return Object.freeze({
    ...{ signal: invocation.signal, callId: params.call_id, args: params.input, dataDir: owner.dataDir },
    ...(workspace !== undefined && { workspace }),
    ...(sessionId !== undefined && { sessionId }),
    ...(agentId !== undefined && { agentId }),
    ...(originTurnId !== undefined && { originTurnId }),
    ...(agent !== undefined && { agent }),
    ...(ticket !== undefined && { core: coreOf(invocation, ticket, owner, link) }),
  });
}
