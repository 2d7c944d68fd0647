import { ConfigError } from '../../ports/errors.ts';
import { newSessionId } from '../session-id.ts';
import type { CommandContext } from './command.ts';
import { exitCodeOfOutcome } from './exit-codes.ts';
import { mergeExternalRefs, parseExternalRef } from './external-refs.ts';
import { hostEnvironment, loadTold, warner, withHost } from './host.ts';
import { onInterrupt } from './interrupt.ts';
import { openView } from './open-view.ts';
import { CLI_POLICIES } from './policy.ts';
import { readTask } from './task.ts';
import { runTurn, tellHowToContinue, terminalApprover } from './turn.ts';

/** `odek run <task>`: one task in a session of its own, from words or standard input to an answer. */
export async function run(context: CommandContext): Promise<number> {
  const task = await readTask(context);
  if (task === undefined) throw new ConfigError('no_task', 'no task: odek run "<task>", or a task on standard input');
  const refs = mergeExternalRefs(
    [],
    ((context.args.flags['external-ref'] ?? []) as string[]).map((text) => parseExternalRef(text, Date.now())),
  );
  const listed = context.args.flags.session === true;
  if (refs.length > 0 && !listed) warner(context)('--external-ref is kept only with --session');
  const config = await loadTold(context);
  const environment = await hostEnvironment(context, config, 'terminal');
  const view = openView(context, config, listed);
  const interrupt = onInterrupt(() => view.close());
  const approver = await terminalApprover();
  try {
    return await withHost(
      CLI_POLICIES.run,
      environment,
      { ...(approver && { approver }), onEvent: view.onEvent, log: view.log },
      async (composed) => {
        const { store, ids, clock } = composed.root;
        const session = await store.sessions.create({
          id: newSessionId(clock.now(), ids),
          title: '',
          provider: environment.selection.id,
          model: environment.selection.model,
          workspace: environment.workspace,
          listed,
          externalRefs: refs,
        });
        view.log('info', `session ${session.header.id}`);
        const result = await runTurn({ composed, session, view, task, keep: listed, signal: interrupt.signal });
        // Closed before the end is shown, so that what a sink lost is told with it.
        await composed.root.sinks.close();
        await view.finish(result);
        tellHowToContinue(context, session, result);
        return exitCodeOfOutcome(result.outcome);
      },
    );
  } finally {
    view.close();
    interrupt.stop();
  }
}
