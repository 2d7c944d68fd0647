import type { PluginPrompt, PreExecute } from '../../core/agent/plugin-seams.ts';
import type { PluginCommands } from './commands.ts';
import type { PluginHostReport } from './desk.ts';

/** The plugins of a host as the rest of odek sees them. There always; nothing stands behind it where no plugin was ever trusted. */
export interface PluginBoard {
  readonly preExecute: PreExecute;
  readonly prompt: PluginPrompt;
  /** Undefined where there are no plugins. */
  commands(): PluginCommands | undefined;
  buildOf(owner: string): string | undefined;
  /** Folders with skills that the code of plugins registered. */
  skillRoots(): readonly { readonly plugin: string; readonly path: string }[];
  report(): PluginHostReport | undefined;
  /** Looks at everything on disk again. What failed is tried again. Resolves when it has settled. */
  reload(): Promise<void>;
  /** Resolves when what is being started has started, or failed; within a bound. Rejects with `CancelledError` alone. */
  begun(signal: AbortSignal): Promise<void>;
  /** Begins to start what is switched on. Loads nothing where nothing can be. */
  begin(): Promise<void>;
  /** Idempotent. Never rejects. */
  close(): Promise<void>;
}

/** What stands behind a board once there is something. */
export type PluginBoardSource = Omit<PluginBoard, 'begin' | 'commands' | 'report'> & {
  commands(): PluginCommands;
  report(): PluginHostReport;
};

export interface PluginBoardOptions {
  /** Whether anything may be switched on at all. One look at the disk. */
  isWanted(): boolean;
  open(): Promise<PluginBoardSource>;
}

export function createPluginBoard({ isWanted, open }: PluginBoardOptions): PluginBoard {
  let source: PluginBoardSource | undefined;
  let opening: Promise<void> | undefined;
  let closed = false;

  const begin = async (): Promise<void> => {
    if (source !== undefined || closed || (opening === undefined && !isWanted())) return;
    opening ??= open().then(async (opened) => {
      if (closed) await opened.close();
      else source = opened;
    });
    try {
      await opening;
    } catch (error) {
      opening = undefined;
      throw error;
    }
  };

  return {
    preExecute: async (call, signal) => (source === undefined ? { kind: 'go', notes: [] } : source.preExecute(call, signal)),
    prompt: {
      async ready(signal) {
        await begin();
        await source?.prompt.ready(signal);
      },
      render: (facts) => source?.prompt.render(facts),
    },
    commands: () => source?.commands(),
    buildOf: (owner) => source?.buildOf(owner),
    skillRoots: () => source?.skillRoots() ?? [],
    report: () => source?.report(),
    async reload() {
      await begin();
      await source?.reload();
    },
    begin,
    async begun(signal) {
      await source?.begun(signal);
    },
    async close() {
      closed = true;
      await opening?.catch(() => {});
      await source?.close().catch(() => {});
    },
  };
}
