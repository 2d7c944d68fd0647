import { createTurns } from '../../core/approvals/turns.ts';
import type { Approver } from '../../ports/approval.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunResult } from '../../ports/run.ts';
import type { SessionWriter } from '../../ports/session.ts';
import type { Composed } from '../compose.ts';
import type { Edges } from '../environment.ts';
import { type ApproverKind, choose } from '../policy.ts';
import type { Asking } from './approvals/asking.ts';
import type { CommandContext } from './command.ts';
import { keepHeapTight } from './heap.ts';
import type { RunView } from './render/run-view.ts';

/** The person at the terminal, or nobody where there is none. */
async function terminalApprover(): Promise<Approver | undefined> {
  const { openTerminal } = await import('../../adapters/approver/terminal.ts');
  return openTerminal();
}

/** The operator's choice: the person at the terminal, whoever answers with `odek approvals`, or nobody. */
export async function chosenApprover(asking: Asking): Promise<Approver | undefined> {
  const { approver } = asking.policy;
  const chosen = choose<ApproverKind>(approver, asking.config.dangerous.approver, [approver.default, approver.ceiling]).value;
  if (chosen !== 'store') return terminalApprover();
  const { askingElsewhere } = await import('./approvals/asking.ts');
  return askingElsewhere(asking);
}

/** Who is asked for approvals, and the person at the terminal for answers; at the terminal one question at a time. */
export async function terminalPerson(clock: Clock, asking: Asking): Promise<Pick<Edges, 'approver' | 'clarifier'>> {
  const [approver, terminal] = await Promise.all([chosenApprover(asking), terminalApprover()]);
  if (terminal === undefined) return approver === undefined ? {} : { approver };
  const { createTerminalClarifier } = await import('../../adapters/approver/clarifier.ts');
  const clarifier = createTerminalClarifier({ clock });
  const turns = createTurns();
  return {
    ...(approver && { approver: { decide: (request, signal) => turns.take(signal, () => approver.decide(request, signal)) } }),
    clarifier: { ask: (question, signal) => turns.take(signal, () => clarifier.ask(question, signal)) },
  };
}

export interface Turn {
  readonly composed: Composed;
  readonly session: SessionWriter;
  readonly view: RunView;
  readonly task?: string;
  /** The task as it was written, where content was put into it. */
  readonly originalTask?: string;
  /** False: an ephemeral session, which goes once its run gave an answer and nothing is left to continue. */
  readonly keep: boolean;
  readonly signal: AbortSignal;
}

/** One run in an open session, shown, and the session given up afterwards. */
export async function runTurn({ composed, session, view, task, originalTask, keep, signal }: Turn): Promise<RunResult> {
  let result: RunResult | undefined;
  keepHeapTight();
  try {
    result = await composed.root.agent.run({
      session,
      signal,
      ...(task !== undefined && { task }),
      ...(originalTask !== undefined && { originalTask }),
    });
    return result;
  } catch (error) {
    view.close();
    throw error;
  } finally {
    await session.close({ discard: !keep && result?.outcome === 'answer' });
  }
}

/** Tells how to go on with a session that stopped early. */
export function tellHowToContinue(context: CommandContext, session: SessionWriter, result: RunResult): void {
  if (result.outcome === 'answer') return;
  context.io.stderr.write(`odek: continue with: odek continue --id ${session.header.id} "…"\n`);
}
