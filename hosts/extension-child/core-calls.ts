import { type Context, Service } from '@deepseek-ai/cordis';
import { messageOf, RpcFault } from '../../adapters/extension-host/channel.ts';
import { RPC } from '../../adapters/extension-host/protocol.ts';
import type { CoreCallResult, HostService } from '../../ports/extension-host.ts';
import { isFields, jsonOf, textOf } from './fields.ts';
import type { Link } from './link.ts';
import { currentScope, entryAt, type Invocation, type Owner } from './owners.ts';

export type CoreCallCode = 'refused' | 'denied' | 'cancelled' | 'unavailable' | 'failed';

/** What a plugin gets when core does not do what it asked for. */
class CoreCallError extends Error {
  readonly code: string;
  readonly data: unknown;

  constructor(message: string, code: CoreCallCode, data?: unknown) {
    super(message);
    this.name = 'CoreCallError';
    this.code = code;
    this.data = data;
  }
}

const CODES: Readonly<Record<number, CoreCallCode>> = {
  [RPC.refused]: 'refused',
  [RPC.denied]: 'denied',
  [RPC.cancelled]: 'cancelled',
  [RPC.unavailable]: 'unavailable',
};
const MAX_INPUT = 1024 * 1024;

async function translated<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    throw new CoreCallError(
      messageOf(error),
      error instanceof RpcFault ? (CODES[error.code] ?? 'failed') : 'failed',
      error instanceof RpcFault ? error.data : undefined,
    );
  }
}

/** `exec.core` of one call. Its ticket is in here and nowhere else; it is of no use once the call is over. */
export function coreOf(invocation: Invocation, ticket: string, owner: Owner, link: Link): object {
  return Object.freeze({
    async call(name: unknown, input: unknown, options: unknown = {}): Promise<CoreCallResult> {
      const tool = textOf(name, 'the name of a tool', { max: 256, min: 1 });
      if (!invocation.isOpen || owner.closed) throw new CoreCallError('the call that this belongs to is over', 'unavailable');
      const own = isFields(options) && options.signal instanceof AbortSignal ? [options.signal] : [];
      const params = {
        owner: owner.ref,
        ticket,
        name: tool,
        input: jsonOf(input === undefined ? {} : input, `the input of ${tool}`, MAX_INPUT),
      };
      return Object.freeze(await translated(link.ask<CoreCallResult>('core/call', params, AbortSignal.any([invocation.signal, ...own]))));
    },
  });
}

/** What each host service can be asked for. */
const OPERATIONS: Readonly<Record<HostService, readonly string[]>> = {
  files: ['read', 'list'],
  network: ['request'],
  model: ['complete'],
};

/** A service that core performs for the tool call that asks, if a review granted it. */
export function hostService(service: HostService, link: Link): new (ctx: Context) => Service {
  class Client extends Service {
    constructor(ctx: Context) {
      super(ctx, service);
    }
  }
  for (const operation of OPERATIONS[service]) {
    Object.defineProperty(Client.prototype, operation, {
      async value(this: { readonly ctx: Context }, input: unknown): Promise<unknown> {
        const { owner } = entryAt(this.ctx);
        const scope = currentScope();
        const invocation = scope?.invocation;
        // A plugin that is used by another one's call has no part in its ticket.
        if (invocation?.ticket === undefined || !invocation.isOpen || scope?.owner !== owner) {
          throw new CoreCallError(`ctx.${service} works inside a tool call alone`, 'refused', { dsh_refusal: 'ticket_refused' });
        }
        const params = {
          owner: owner.ref,
          ticket: invocation.ticket,
          service,
          operation,
          input: jsonOf(input === undefined ? {} : input, `the input of ${operation}`, MAX_INPUT),
        };
        return translated(link.ask('service/call', params, invocation.signal));
      },
    });
  }
  return Client;
}
