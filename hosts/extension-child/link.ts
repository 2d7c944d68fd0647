import type { Channel } from '../../adapters/extension-host/channel.ts';
import type { OwnerRef } from '../../ports/extension-host.ts';
import type { Owner } from './owners.ts';

const MAX_MESSAGE = 4_096;

/** Core, as the rest of the host sees it. */
export interface Link {
  ask<Result>(method: string, params: unknown, signal?: AbortSignal): Promise<Result>;
  log(level: 'debug' | 'info' | 'warning' | 'error', message: string, owner?: Owner): void;
  faulted(message: string, owner?: Owner): void;
}

export function createLink(channel: Channel): Link {
  const tell = (method: string, params: Readonly<Record<string, unknown>>, owner: Owner | undefined): void =>
    channel.notify(method, { ...params, ...(owner !== undefined && { owner: owner.ref satisfies OwnerRef }) });
  return {
    ask: async <Result>(method: string, params: unknown, signal?: AbortSignal) => (await channel.request(method, params, signal)) as Result,
    log: (level, message, owner) => tell('log', { level, message: message.slice(0, MAX_MESSAGE) }, owner),
    faulted: (message, owner) => tell('ext/faulted', { message: message.slice(0, MAX_MESSAGE) }, owner),
  };
}
