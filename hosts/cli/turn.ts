import { createTurns } from '../../core/approvals/turns.ts';
import type { Approver } from '../../ports/approval.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunResult } from '../../ports/run.ts';
import type { SessionWriter } from '../../ports/session.ts';
import type { Composed } from '../compose.ts';
import type { Edges } from '../environment.ts';
import type { CommandContext } from './command.ts';
import { keepHeapTight } from './heap.ts';
import type { RunView } from './render/run-view.ts';

/** The person at the terminal, or nobody where there is none. */
export async function terminalApprover(): Promise<Approver | undefined> {
  const { openTerminal } = await import('../../adapters/approver/terminal.ts');
  return openTerminal();
}

/** The same person, asked for approvals and answers one at a time. */
export async function terminalPerson(clock: Clock): Promise<Pick<Edges, 'approver' | 'clarifier'>> {
  const approver = await terminalApprover();
  if (approver === undefined) return {};
  const { createTerminalClarifier } = await import('../../adapters/approver/clarifier.ts');
  const clarifier = createTerminalClarifier({ clock });
  const turns = createTurns();
  return {
    approver: { decide: (request, signal) => turns.take(signal, () => approver.decide(request, signal)) },
    clarifier: { ask: (question, signal) => turns.take(signal, () => clarifier.ask(question, signal)) },
  };
}

export interface Turn {
  readonly composed: Composed;
  readonly session: SessionWriter;
  readonly view: RunView;
  readonly task?: string;
  /** False: an ephemeral session, which goes once its run gave an answer and nothing is left to continue. */
  readonly keep: boolean;
  readonly signal: AbortSignal;
}

/** One run in an open session, shown, and the session given up afterwards. */
export async function runTurn({ composed, session, view, task, keep, signal }: Turn): Promise<RunResult> {
  let result: RunResult | undefined;
  keepHeapTight();
  try {
    result = await composed.root.agent.run({ session, signal, ...(task !== undefined && { task }) });
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
