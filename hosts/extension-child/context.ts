import { Context, EventsService, Fiber, Logger, LoggerService, RegistryService, Service } from '@deepseek-ai/cordis';
import { commandsService } from './commands.ts';
import { hostService } from './core-calls.ts';
import { installHooks } from './hooks.ts';
import type { Link } from './link.ts';
import { absentService, mcpService, promptService, skillsService } from './offers.ts';
import { entryOf } from './owners.ts';
import type { Registrations } from './registrations.ts';
import { Storage } from './storage.ts';
import { toolsService } from './tools.ts';

/** Names that no plugin may provide: core's, and what the host gives itself. */
const CORE_NAMES = [
  'loader',
  'approval',
  'agents',
  'llm',
  'sandboxPolicy',
  'credentials',
  'fs',
  'subprocess',
  'systemPrompt',
  'runtimeLoop',
  'process',
  'http',
];
/** Members of every context; here also so that they can be named in `inject`. */
const MEMBERS = ['logger', 'events', 'reflect', 'registry'] as const;
const DELEGATION = 'odek cannot delegate to other agents from a plugin';

type AnyFunction = (this: unknown, ...args: never[]) => unknown;

/** The one Cordis that all plugins share, with every service in place and the names of the services. */
export interface SharedRoot {
  readonly root: Context;
  readonly names: ReadonlySet<string>;
}

export async function createRoot(link: Link, registrations: Registrations): Promise<SharedRoot> {
  const root = new Context();
  installLogger(root, link);
  const services = {
    tools: toolsService(registrations),
    commands: commandsService(registrations),
    prompt: promptService(registrations),
    skills: skillsService(registrations),
    mcp: mcpService(registrations),
    storage: Storage,
    files: hostService('files', link),
    network: hostService('network', link),
    model: hostService('model', link),
    subagents: absentService('subagents', ['getProvider', 'startActivation', 'start'], DELEGATION),
    sessions: absentService('sessions', ['flush', 'get', 'list'], DELEGATION),
  };
  const names = new Set<string>([...Object.keys(services), ...MEMBERS]);
  for (const Each of Object.values(services)) {
    await root.plugin(Each);
    Object.freeze(Each.prototype);
  }
  for (const name of MEMBERS) root.provide(name, (root as unknown as Record<string, unknown>)[name]);
  installHooks(root, registrations);
  guardProvide(root, new Set([...names, ...CORE_NAMES]));
  for (const each of [Context, EventsService, Fiber, Logger, LoggerService, RegistryService, Service]) Object.freeze(each.prototype);
  return { root, names };
}

/** On the prototype, so that no context and no root leads around it. */
function guardProvide(root: Context, refused: ReadonlySet<string>): void {
  const prototype = Object.getPrototypeOf(root.reflect) as { provide: AnyFunction };
  const provide = prototype.provide;
  prototype.provide = function (this: unknown, ...args: never[]) {
    const name = String(args[0]);
    if (refused.has(name)) throw new Error(`a plugin cannot provide the service "${name}"`);
    return provide.apply(this, args);
  };
  Object.freeze(prototype);
}

/** Lines of plugins go to core; what Cordis itself says about a plugin goes with them. */
function installLogger(root: Context, link: Link): void {
  const levels = { error: 'error', warn: 'warning', info: 'info', debug: 'debug' } as const;
  root.logger.exporters.clear();
  root.logger.exporter({
    levels: { default: 3 },
    export(message) {
      const fiber = message.fiber?.deref();
      const owner = fiber === undefined ? undefined : entryOf(fiber)?.owner;
      link.log(levels[message.type], Logger.format({ export() {}, maxLength: 4_096 }, message), owner);
    },
  });
  Object.defineProperties(root.logger, {
    // Plugins of odek's own log like this.
    log: {
      value(this: LoggerService, level: string, message: unknown) {
        const method = level === 'warning' ? 'warn' : level;
        if (method !== 'debug' && method !== 'info' && method !== 'warn' && method !== 'error')
          throw new TypeError(`there is no level "${level}"`);
        this[method]('%s', String(message));
      },
    },
    exporter: {
      value() {
        throw new Error('a plugin cannot read what others log');
      },
    },
  });
}
