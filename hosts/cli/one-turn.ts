import { createSystemClock } from '../../adapters/clock/system.ts';
import type { RunResult } from '../../ports/run.ts';
import type { SessionWriter } from '../../ports/session.ts';
import type { Composed } from '../compose.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { HostEnvironment } from '../environment.ts';
import type { HostPolicy } from '../policy.ts';
import { enrichedTurn } from '../references.ts';
import type { CommandContext, FlagValue } from './command.ts';
import { exitCodeOfOutcome } from './exit-codes.ts';
import { hostEnvironment, withHost } from './host.ts';
import { onInterrupt } from './interrupt.ts';
import { openView } from './open-view.ts';
import { withConsent } from './operator-consent.ts';
import { operatorQuestion } from './operator-question.ts';
import { chosenApprover, runTurn, tellHowToContinue } from './turn.ts';

export interface OneTurn {
  readonly policy: HostPolicy;
  readonly config: ResolvedConfig;
  /** Kept and listed; else the session goes once its run gave an answer. */
  readonly listed: boolean;
  /** Absent: on with an interrupted run. */
  readonly task: string | undefined;
  /** Makes or opens the session that the turn is journalled in. */
  open(composed: Composed, environment: HostEnvironment, signal: AbortSignal): Promise<SessionWriter>;
  /** Does something with what came of it, once it is shown. */
  afterwards?(result: RunResult, composed: Composed, signal: AbortSignal): Promise<void>;
}

/** One turn from a terminal or a pipe: composed, shown, ended by Ctrl-C, and closed. Returns the exit code. */
export async function runOneTurn(context: CommandContext, { policy, config, listed, task, open, afterwards }: OneTurn): Promise<number> {
  const environment = await hostEnvironment(context, config, 'terminal');
  const view = openView(context, config, listed);
  const interrupt = onInterrupt(() => view.close());
  const approver = await chosenApprover({ config, policy, log: view.log });
  const clock = createSystemClock();
  const edges = {
    ...(await withConsent({ ...(approver && { approver }) }, config, clock)),
    ...operatorQuestion(clock, approver !== undefined),
    signal: interrupt.signal,
    onEvent: view.onEvent,
    log: view.log,
  };
  try {
    return await withHost(policy, environment, edges, async (composed) => {
      const { signal } = interrupt;
      const turn = await enrichedTurn({ task, contextFiles: contextFilesOf(context.args.flags.ctx) }, environment, composed, (text) =>
        view.log('warning', text),
      );
      const session = await open(composed, environment, signal);
      view.log('info', `session ${session.header.id}`);
      const result = await runTurn({ composed, session, view, keep: listed, signal, ...turn });
      // The session is over, and its jobs with it; the sinks hear of that too.
      await composed.root.jobs?.closeAll();
      // Closed before the end is shown, so that what a sink lost is told with it.
      await composed.root.sinks.close();
      await view.finish(result);
      tellHowToContinue(context, session, result);
      await afterwards?.(result, composed, signal);
      return exitCodeOfOutcome(result.outcome);
    });
  } finally {
    view.close();
    interrupt.stop();
  }
}

/** `--ctx a,b`, which may be repeated. */
function contextFilesOf(flag: FlagValue | undefined): readonly string[] {
  const given = typeof flag === 'string' ? [flag] : Array.isArray(flag) ? (flag as readonly string[]) : [];
  return given.flatMap((each) => each.split(',')).filter((path) => path !== '');
}
