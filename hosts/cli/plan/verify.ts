import { realpath } from 'node:fs/promises';
import { ConfigError } from '../../../ports/errors.ts';
import type { RunEvent } from '../../../ports/event.ts';
import type { ToolOutcome } from '../../../ports/message.ts';
import type { RunOutcome } from '../../../ports/run.ts';
import type { ResolvedConfig } from '../../config/types.ts';
import type { HostEnvironment } from '../../environment.ts';
import { newSessionId } from '../../session-id.ts';
import type { CommandContext } from '../command.ts';
import { EXIT } from '../exit-codes.ts';
import { loadToldWithoutModel, warner, withHost } from '../host.ts';
import { onInterrupt } from '../interrupt.ts';
import { type OpenView, openView } from '../open-view.ts';
import { CLI_POLICIES } from '../policy.ts';
import { CHECKS_PROVIDER } from '../session/latest.ts';
import { chosenApprover } from '../turn.ts';
import {
  type CheckedAgain,
  callIdOf,
  checkedAgain,
  createCheckProvider,
  type DeclaredCheck,
  declaredChecks,
  isMasked,
  verificationTable,
} from './checks.ts';
import type { StoredSession } from './show.ts';

/** What a person sees of the run besides the table: calls, questions and warnings. */
const SHOWN: ReadonlySet<RunEvent['type']> = new Set([
  'tool_call_started',
  'tool_call_completed',
  'tool_call_failed',
  'tool_result',
  'approval_asked',
  'approval_answered',
  'notice',
]);

/** The folder in which the session works; its checks mean nothing elsewhere. Throws `ConfigError` where it is gone. */
async function workspaceOf({ header }: StoredSession): Promise<string> {
  try {
    return await realpath(header.workspace);
  } catch (cause) {
    throw new ConfigError('no_workspace', `the folder of session ${header.id} is not there: ${header.workspace}`, {
      value: header.workspace,
      cause,
    });
  }
}

/** The operator's configuration without what has to do with a model. */
function withoutModel(config: ResolvedConfig, checks: number): ResolvedConfig {
  const { max_runtime_seconds, max_tool_calls } = config.limits;
  return {
    ...config,
    // One check an iteration, and the end.
    max_iterations: checks + 1,
    limits: {
      ...(max_runtime_seconds !== undefined && { max_runtime_seconds }),
      ...(max_tool_calls !== undefined && { max_tool_calls }),
    },
    planning: { ...config.planning, enabled: false },
    verify: { ...config.verify, enabled: false },
  };
}

function environmentFor(context: CommandContext, config: ResolvedConfig, workspace: string): HostEnvironment {
  return {
    config,
    selection: { id: CHECKS_PROVIDER, include_reasoning: true, model: 'none' },
    env: context.env,
    workspace,
    systemPrompt: 'The declared checks of a plan are run again. No model takes part.',
    dataDirOf: (plugin) => `${config.state.home}/plugins/${plugin}/data`,
    eventsIncludeArgs: false,
  };
}

interface Verification {
  readonly outcomes: ReadonlyMap<string, ToolOutcome>;
  readonly run: RunOutcome;
}

/**
 * Runs the checks through the ordinary loop, with a script in the model's place, in an ephemeral
 * session of their own: approvals, budget, journal and events are those of any run, and the session
 * whose plan it is stays as it was.
 */
async function runChecks(
  context: CommandContext,
  environment: HostEnvironment,
  checks: readonly DeclaredCheck[],
  view: OpenView,
  signal: AbortSignal,
): Promise<Verification> {
  const outcomes = new Map<string, ToolOutcome>();
  const onEvent = (event: RunEvent): void => {
    if (event.type === 'tool_result') outcomes.set(event.call_id, event.outcome);
    if (SHOWN.has(event.type)) view.onEvent(event);
  };
  const approver = await chosenApprover({ config: environment.config, policy: CLI_POLICIES.run, log: view.log });
  const edges = { ...(approver && { approver }), provider: createCheckProvider(checks), onEvent, log: view.log };
  return withHost(CLI_POLICIES.run, environment, edges, async ({ root: { agent, store, ids, clock } }) => {
    const session = await store.sessions.create({
      id: newSessionId(clock.now(), ids),
      title: '',
      provider: environment.selection.id,
      model: environment.selection.model,
      workspace: environment.workspace,
      listed: false,
      externalRefs: [],
    });
    try {
      const result = await agent.run({ session, task: 'Run the declared checks of the plan.', signal });
      if (result.error !== undefined) warner(context)(result.error.message);
      return { outcomes, run: result.outcome };
    } finally {
      await session.close({ discard: true });
    }
  });
}

function exitCode(rows: readonly CheckedAgain[], run: RunOutcome): number {
  if (run === 'cancelled') return EXIT.cancelled;
  if (run === 'budget') return EXIT.budget;
  return rows.every(({ recorded, now }) => recorded === 'passed' && now === 'passed') ? EXIT.ok : EXIT.failed;
}

/** Runs the declared checks of a session's plan again and prints what came of it. 0 only if all were and are passed. */
export async function verifyPlan(context: CommandContext, session: StoredSession): Promise<number> {
  const { io, args } = context;
  const checks = declaredChecks(session);
  if (checks.length === 0) {
    io.stderr.write(`The plan of session ${session.header.id} declares no checks: there is nothing to verify.\n`);
    return EXIT.failed;
  }
  const workspace = await workspaceOf(session);
  const runnable = checks.filter((check) => !isMasked(check));
  const config = withoutModel(await loadToldWithoutModel({ ...context, cwd: workspace }), runnable.length);
  if (workspace !== context.cwd) warner(context)(`the checks run in ${workspace}`);
  const view = openView(context, config, false);
  const interrupt = onInterrupt(() => view.close());
  try {
    const { outcomes, run } = await runChecks(context, environmentFor(context, config, workspace), runnable, view, interrupt.signal);
    view.close();
    const rows = checks.map((check) => checkedAgain(check, outcomes.get(callIdOf(runnable.indexOf(check)))));
    if (args.flags.json === true) io.stdout.write(`${JSON.stringify({ session_id: session.header.id, checks: rows })}\n`);
    else for (const line of verificationTable(rows)) io.stdout.write(`${line}\n`);
    return exitCode(rows, run);
  } finally {
    view.close();
    interrupt.stop();
  }
}
