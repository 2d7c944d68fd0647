import { ConfigError } from '../../ports/errors.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { loadToldWithoutModel } from './host.ts';
import { showPlan, unshownPlan } from './plan/show.ts';
import { verifyPlan } from './plan/verify.ts';
import { latestSession } from './session/latest.ts';
import { withStore } from './store.ts';

const VERIFY = 'verify';

function usage(given: readonly string[]): ConfigError {
  return new ConfigError('unexpected_argument', 'usage: odek plan [session], or odek plan verify <session>', { value: given.join(' ') });
}

/** `odek plan [session]` prints the plan of a session; `odek plan verify <session>` runs its checks again. */
export async function run(context: CommandContext): Promise<number> {
  const { positionals, flags } = context.args;
  const [first, second, ...rest] = positionals;
  if (rest.length > 0 || (first !== VERIFY && second !== undefined) || (first === VERIFY && second === undefined)) throw usage(positionals);
  const config = await loadToldWithoutModel(context);
  const stored = await withStore(config, 'plan', async ({ sessions }) => {
    const id = (first === VERIFY ? second : first) ?? (await latestSession(sessions))?.id;
    return id === undefined ? undefined : sessions.read(id);
  });
  if (stored === undefined) {
    context.io.stderr.write('There is no session yet. "odek run --session <task>" keeps one.\n');
    return EXIT.failed;
  }
  if (first === VERIFY) return verifyPlan(context, stored);
  const unshown = unshownPlan(stored);
  if (unshown !== undefined) context.io.stderr.write(`${unshown}\n`);
  for (const line of showPlan(stored, flags.json === true)) context.io.stdout.write(`${line}\n`);
  return EXIT.ok;
}
