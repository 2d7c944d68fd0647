import type { RunInput } from '../core/agent/settings.ts';
import { ConfigError } from '../ports/errors.ts';
import type { Composed } from './compose.ts';
import type { HostEnvironment } from './environment.ts';

/** A user's turn before it is told to the model. */
export interface RawTurn {
  readonly task: string | undefined;
  /** Files whose content goes before it. */
  readonly contextFiles: readonly string[];
}

type Enriched = Pick<RunInput, 'task' | 'originalTask'>;

/** Bytes of randomness in a wrapper's tag. */
const NONCE_BYTES = 8;

/**
 * The turn with the content that it names, and as it was written. What is left as it is gets told with
 * `warn`. Throws `ConfigError` for context files that cannot be taken, or without a task to go before.
 */
export async function enrichedTurn(
  { task, contextFiles }: RawTurn,
  { config, workspace }: Pick<HostEnvironment, 'config' | 'workspace'>,
  { root: { ids, redactor, store } }: Composed,
  warn: (text: string) => void,
): Promise<Enriched> {
  if (task === undefined) {
    if (contextFiles.length > 0) throw new ConfigError('no_task', '--ctx needs a task for its files to go with');
    return {};
  }
  if (contextFiles.length === 0 && !task.includes('@')) return { task };
  const references = await import('../core/references/references.ts');
  const { createDiskFileSystem } = await import('../adapters/fs/disk.ts');
  const { createSessionSearch } = await import('../adapters/session-search/store.ts');
  const sources = {
    // Of its own: what is looked at here is not judged for the tools.
    fs: createDiskFileSystem({ root: workspace, stateDir: config.state.home }),
    sessions: createSessionSearch(store.sessions),
    nonce: () => ids.hex(NONCE_BYTES),
    redact: redactor.text,
  };
  const before = await references.contextFiles(contextFiles, sources);
  const { task: expanded, notes } = await references.expandReferences(task, sources);
  for (const note of notes) warn(note);
  const whole = before === '' ? expanded : `${before}\n${expanded}`;
  return whole === task ? { task } : { task: whole, originalTask: task };
}
