import { ConfigError } from '../../ports/errors.ts';
import { newSessionId } from '../session-id.ts';
import type { CommandContext } from './command.ts';
import { externalRefsOf, maskedRefs } from './external-refs.ts';
import { loadTold, warner } from './host.ts';
import { runOneTurn } from './one-turn.ts';
import { CLI_POLICIES } from './policy.ts';
import { readTask } from './task.ts';

/** `odek run <task>`: one task in a session of its own, from words or standard input to an answer. */
export async function run(context: CommandContext): Promise<number> {
  const task = await readTask(context);
  if (task === undefined) throw new ConfigError('no_task', 'no task: odek run "<task>", or a task on standard input');
  const externalRefs = externalRefsOf(context.args.flags['external-ref'], Date.now());
  const listed = context.args.flags.session === true;
  if (externalRefs.length > 0 && !listed) warner(context)('--external-ref is kept only with --session');
  const config = await loadTold(context);
  const delivery =
    context.args.flags.deliver === true ? await (await import('../telegram/deliver-run.ts')).answerDelivery(config) : undefined;
  return runOneTurn(context, {
    policy: CLI_POLICIES.run,
    config,
    listed,
    task,
    ...(delivery && { afterwards: delivery }),
    open: ({ root: { store, ids, clock, redactor } }, { selection, workspace }) =>
      store.sessions.create({
        id: newSessionId(clock.now(), ids),
        title: '',
        provider: selection.id,
        model: selection.model,
        workspace,
        listed,
        externalRefs: maskedRefs(externalRefs, redactor.text),
      }),
  });
}
