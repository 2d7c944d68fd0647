import { userInfo } from 'node:os';
import type { Answerer, ApprovalStore } from '../../ports/approval-store.ts';
import { ConfigError } from '../../ports/errors.ts';
import { answerRequest } from './approvals/answer.ts';
import type { ApprovalsDeps } from './approvals/deps.ts';
import { listRequests, showRequest } from './approvals/show.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { loadToldWithoutModel } from './host.ts';
import { withStore } from './store.ts';

const SURFACE = 'cli';

/** The person at this terminal; a user without a name has a number. */
function person(): Answerer {
  try {
    return { surface: SURFACE, user: userInfo().username };
  } catch {
    return { surface: SURFACE, user: String(process.getuid?.() ?? 'unknown') };
  }
}

async function perform(action: string, id: string | undefined, deps: ApprovalsDeps): Promise<void> {
  if (action === 'list') {
    if (id !== undefined) throw new ConfigError('unexpected_argument', 'approvals list takes no id', { value: id });
    return listRequests(deps);
  }
  if (id === undefined) throw new ConfigError('missing_argument', `approvals ${action} needs an id; "odek approvals" lists them`);
  if (action === 'show') return showRequest(id, deps);
  return answerRequest(id, action as 'approve' | 'trust' | 'deny', deps);
}

/** `odek approvals …`: sees and answers what runs without a terminal ask. */
export async function run(context: CommandContext): Promise<number> {
  const { args, env, io } = context;
  const [action = 'list', id] = args.positionals;
  const json = args.flags.json === true;
  if (json && action !== 'list' && action !== 'show') throw new ConfigError('unknown_flag', '--json goes with list and show only');
  const config = await loadToldWithoutModel(context);
  const work = (approvals: ApprovalStore): Promise<void> =>
    perform(action, id, { approvals, by: person(), env, json, now: Date.now, out: (line) => void io.stdout.write(`${line}\n`) });
  await withStore(config, 'approvals', (store) => work(store.approvals));
  return EXIT.ok;
}
