import { grantsOf } from '../../core/extensions/groups.ts';
import type { ActiveBundle } from '../../ports/bundle.ts';
import type { ExtensionHostReport } from '../../ports/extension-host.ts';
import type { Ids } from '../../ports/ids.ts';
import type { Owned } from './parts.ts';

export type Phase = 'idle' | 'starting' | 'ready' | 'unresponsive' | 'restarting' | 'failed' | 'stopped';

export interface GroupReport {
  readonly name: string;
  readonly phase: Phase;
  /** Why it is not ready; empty when it is. */
  readonly why: string;
  readonly plugins: readonly string[];
  readonly process?: ExtensionHostReport;
}

const TOKEN_BYTES = 24;
const TEXTS: Readonly<Record<Phase, string>> = {
  idle: 'the plugin host has not been started',
  starting: 'the plugin host is being started',
  ready: '',
  unresponsive: 'the plugin host does not answer',
  restarting: 'the plugin host is being started again after a crash',
  failed: 'the plugin host did not start',
  stopped: 'the plugin host crashed too often and stays down until a plugin is changed or reloaded',
};

/** Why a group can or cannot take calls, in words. */
export function describePhase(phase: Phase, why: string): string {
  return why === '' ? TEXTS[phase] : `${TEXTS[phase]}: ${why}`;
}

/** What was reviewed, and with which configuration it runs. */
export function receiptOf({ id, contentHash, capabilityHash, config }: ActiveBundle): string {
  return JSON.stringify([id, contentHash, capabilityHash, config]);
}

/** A new activation, with a token that nobody can guess. */
export function ownedOf(bundle: ActiveBundle, generation: number, ids: Ids): Owned {
  const ref = { plugin_id: `${bundle.name}-${bundle.id}`, generation, owner_token: ids.hex(TOKEN_BYTES) };
  const base = { bundle, ref, services: grantsOf(bundle), state: 'starting', why: '', entries: [], guards: false } as const;
  return { ...base, ended: new AbortController(), undo: new Map() };
}
