import type { HandleRow } from '../../core/extensions/handles.ts';
import { LIMITS } from '../../core/extensions/limits.ts';
import { utf8Head, utf8Length } from '../../core/results/utf8.ts';
import { type CommandAnswer, type ExtensionHost, ExtensionHostError, type Registration } from '../../ports/extension-host.ts';
import { sanitise } from '../cli/render/sanitise.ts';
import { type Owned, originOf, type Shared } from './parts.ts';

/** A slash command of a plugin. */
export interface PluginCommand {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  /** `extension:<plugin>`. */
  readonly origin: string;
  /** Names this very registration: it is not the same after a restart or an update. */
  readonly registrationId: string;
}

export interface CommandCaller {
  /** What follows the name, trimmed. */
  readonly args: string;
  readonly workspace: string;
  readonly sessionId?: string;
  readonly signal: AbortSignal;
}

/** What plugins offer to be typed. */
export interface PluginCommands {
  list(): readonly PluginCommand[];
  find(name: string): PluginCommand | undefined;
  /** Runs what is registered under the name now. Rejects with {@link ExtensionHostError}, or `CancelledError`. At most 30 s. */
  run(name: string, caller: CommandCaller): Promise<CommandAnswer>;
}

export interface CommandPlace {
  readonly owned: Owned;
  host(): ExtensionHost | string;
  enter(): () => void;
}

type CommandRow = HandleRow & { readonly spec: Extract<Registration, { kind: 'command' }> };

const ID_BYTES = 8;
function shortened(text: string): string {
  const bytes = utf8Length(text);
  if (bytes <= LIMITS.commandTextBytes) return text;
  return `${utf8Head(text, LIMITS.commandTextBytes)}\n[cut: the command gave ${bytes} bytes, the limit is ${LIMITS.commandTextBytes}]`;
}

function checked({ kind, text, prompt }: CommandAnswer, name: string): CommandAnswer {
  const shown = shortened(sanitise(text));
  if (kind !== 'submit') return { kind: kind === 'success' ? 'success' : 'error', text: shown };
  const asked = prompt ?? '';
  if (asked.trim() === '') return { kind: 'error', text: `/${name} submitted no text` };
  const bytes = utf8Length(asked);
  if (bytes > LIMITS.promptBytes) return { kind: 'error', text: `/${name} submitted ${bytes} bytes, the limit is ${LIMITS.promptBytes}` };
  return { kind, text: shown, prompt: sanitise(asked) };
}

export function createPluginCommands(shared: Shared, placeOf: (row: HandleRow) => CommandPlace | undefined): PluginCommands {
  const rows = (): readonly CommandRow[] => shared.handles.rows('command');
  const described = (row: CommandRow): readonly PluginCommand[] => {
    const place = placeOf(row);
    if (place === undefined) return [];
    const { name, description, argument_hint } = row.spec;
    const hint = argument_hint === undefined ? {} : { argumentHint: argument_hint };
    return [{ name, description, origin: originOf(place.owned.bundle), registrationId: row.handle, ...hint }];
  };
  const rowOf = (name: string): CommandRow | undefined => rows().find(({ spec }) => spec.name === name);
  return {
    list: () =>
      rows()
        .flatMap(described)
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    find: (name) => {
      const row = rowOf(name);
      return row && described(row)[0];
    },
    async run(name, { args, workspace, sessionId, signal }) {
      const row = rowOf(name);
      const place = row && placeOf(row);
      if (row === undefined || place === undefined) {
        throw new ExtensionHostError('extension_not_available', `the command /${name} is not there any more`, { value: name });
      }
      const host = place.host();
      if (typeof host === 'string') throw new ExtensionHostError('extension_not_available', `/${name}: ${host}`, { value: name });
      const leave = place.enter();
      try {
        const { result } = host.call(
          {
            method: 'command/run',
            deadlineMs: LIMITS.commandMs,
            params: {
              handle: row.handle,
              command_id: shared.ids.hex(ID_BYTES),
              raw_input: args === '' ? '' : ` ${args}`,
              workspace,
              ...(sessionId !== undefined && { session_id: sessionId }),
            },
          },
          AbortSignal.any([signal, place.owned.ended.signal]),
        );
        return checked(await result, name);
      } finally {
        leave();
      }
    },
  };
}
