import { ConfigError } from '../../ports/errors.ts';
import type { SessionHeader, SessionStore } from '../../ports/session.ts';
import { loadConfig } from '../config/load.ts';
import type { CommandContext, FlagValue } from './command.ts';
import { externalRefsOf, maskedRefs, mergeExternalRefs } from './external-refs.ts';
import { loadTold, warner } from './host.ts';
import { runOneTurn } from './one-turn.ts';
import { CLI_POLICIES } from './policy.ts';
import { latestSession } from './session/latest.ts';
import { withStore } from './store.ts';
import { readTask } from './task.ts';

/** How long to wait for another process that holds the session. */
export const OPEN_WAIT_MS = 3_000;

/** The session that was asked for, else the one that changed last; interrupted ephemeral ones count. */
export async function findSession(sessions: SessionStore, id: string | undefined): Promise<SessionHeader> {
  if (id !== undefined) return (await sessions.read(id)).header;
  const latest = await latestSession(sessions);
  if (!latest) throw new ConfigError('no_session', 'there is no session to continue; start one with: odek run --session "<task>"');
  return latest;
}

/**
 * A continued session keeps its provider and model unless flags name others. A model alone is another
 * one of the same provider; a provider or an endpoint alone brings its own model.
 */
export function sessionFlags(header: SessionHeader, given: Readonly<Record<string, FlagValue>>): Readonly<Record<string, FlagValue>> {
  const elsewhere = ['provider', 'base-url', 'replay'].some((flag) => given[flag] !== undefined);
  if (elsewhere || header.provider === 'replay' || header.provider === '') return {};
  return { provider: header.provider, model: header.model };
}

/** Tools work where odek was called, which may be elsewhere than before. */
export function tellOfMove(context: CommandContext, { workspace }: SessionHeader): void {
  if (workspace !== context.cwd) warner(context)(`the session began in ${workspace}; it goes on in ${context.cwd}`);
}

/** `odek continue [--id ID] [task]`: another turn in a session; without a task, on with an interrupted run. */
export async function run(context: CommandContext): Promise<number> {
  const task = await readTask(context);
  const { flags } = context.args;
  const added = externalRefsOf(flags['external-ref'], Date.now());
  const id = typeof flags.id === 'string' ? flags.id : undefined;
  // Read once for the place of the state alone; what it warns of is told with the second reading.
  const { config: place } = await loadConfig({ env: context.env, cwd: context.cwd, flags });
  const header = await withStore(place, 'continue', (store) => findSession(store.sessions, id));
  const config = await loadTold(context, sessionFlags(header, flags));
  tellOfMove(context, header);
  return runOneTurn(context, {
    policy: CLI_POLICIES.continue,
    config,
    listed: true,
    task,
    open: async (composed, { selection }, signal) => {
      const session = await composed.root.store.sessions.open(header.id, { waitMs: OPEN_WAIT_MS }, signal);
      const externalRefs = mergeExternalRefs(session.header.externalRefs, maskedRefs(added, composed.root.redactor.text));
      await session.update({ listed: true, externalRefs, provider: selection.id, model: selection.model });
      return session;
    },
  });
}
