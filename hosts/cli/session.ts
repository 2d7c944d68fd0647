import { hasCode } from '../../ports/errors.ts';
import { EXIT } from './exit-codes.ts';
import { type SessionCommand, type SessionDeps, UsageError } from './session/deps.ts';
import { exportSession } from './session/export.ts';
import { list } from './session/list.ts';
import { cleanup, deleteSession } from './session/remove.ts';
import { show } from './session/show.ts';
import { trim } from './session/trim.ts';

const ACTIONS = { list, show, export: exportSession, delete: deleteSession, trim, cleanup } satisfies Record<string, SessionCommand>;
/** These print something that has a JSON form. */
const WITH_JSON: readonly string[] = ['list', 'show', 'export'];

function findAction(name: string | undefined): SessionCommand {
  const known = Object.keys(ACTIONS).join(', ');
  if (name === undefined) throw new UsageError(`session needs one of: ${known}`);
  if (!Object.hasOwn(ACTIONS, name)) throw new UsageError(`session has no ${JSON.stringify(name)}; it has: ${known}`);
  return ACTIONS[name as keyof typeof ACTIONS];
}

/**
 * `odek session <action> …`. Returns the exit code: 0, 1 where the session does not exist, 3 for a
 * wrong command line. Other failures of the store pass through as the `SessionError` they are.
 */
export async function runSessionCommand(args: readonly string[], deps: SessionDeps): Promise<number> {
  const [name, ...rest] = args;
  try {
    const action = findAction(name);
    if (deps.flags?.json === true && !WITH_JSON.includes(name ?? '')) throw new UsageError(`--json goes with ${WITH_JSON.join(', ')} only`);
    return await action(rest, deps);
  } catch (error) {
    if (!(error instanceof UsageError) && !hasCode(error, 'session_not_found') && !hasCode(error, 'invalid_session_id')) throw error;
    deps.err(error.message);
    return hasCode(error, 'session_not_found') ? EXIT.failed : EXIT.setup;
  }
}
