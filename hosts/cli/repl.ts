import { createSystemClock } from '../../adapters/clock/system.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import type { SessionHeader } from '../../ports/session.ts';
import type { Composed } from '../compose.ts';
import { loadConfig } from '../config/load.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { Edges } from '../environment.ts';
import { newSessionId } from '../session-id.ts';
import type { CommandContext } from './command.ts';
import { findSession, OPEN_WAIT_MS, sessionFlags } from './continue.ts';
import { hostEnvironment, loadTold, withHost } from './host.ts';
import { type OpenView, openView } from './open-view.ts';
import { CLI_POLICIES } from './policy.ts';
import { createPrompt } from './repl/prompt.ts';
import { runRepl } from './repl/repl.ts';
import { withStore } from './store.ts';
import { runTurn, terminalApprover } from './turn.ts';

async function startingPoint(context: CommandContext): Promise<{ header: SessionHeader | undefined; config: ResolvedConfig }> {
  const { flags } = context.args;
  const id = typeof flags.id === 'string' ? flags.id : undefined;
  if (id === undefined) return { header: undefined, config: await loadTold(context) };
  const { config } = await loadConfig({ env: context.env, cwd: context.cwd, flags });
  const header = await withStore(config, 'repl', (store) => findSession(store.sessions, id));
  return { header, config: await loadTold(context, sessionFlags(header, flags)) };
}

async function createSession(composed: Composed, provider: string, model: string, workspace: string): Promise<string> {
  const { store, ids, clock } = composed.root;
  const id = newSessionId(clock.now(), ids);
  const session = await store.sessions.create({ id, title: '', provider, model, workspace, listed: true, externalRefs: [] });
  await session.close();
  return id;
}

/** `odek repl`: turn after turn in one session. Each turn opens the session anew, so that what another process did is seen. */
export async function run(context: CommandContext): Promise<number> {
  const { header, config } = await startingPoint(context);
  const environment = await hostEnvironment(context, config, 'terminal');
  const approver = await terminalApprover();
  let view: OpenView | undefined;
  const edges: Edges = {
    ...(approver && { approver }),
    onEvent: (event) => view?.onEvent(event),
    log: (level, text) => view?.log(level, text),
  };
  const prompt = await createPrompt({
    io: context.io,
    historyFile: config.state.replHistory,
    clock: createSystemClock(),
    redact: createRedactor(config.secrets).text,
    editing: context.env.TERM !== 'dumb',
  });
  const { provider, model } = { provider: environment.selection.id, model: environment.selection.model };
  return withHost(CLI_POLICIES.repl, environment, edges, async (composed) => {
    // Made with the first turn, so that looking in and leaving leaves nothing behind.
    let id = header?.id;
    const onTurn = async (task: string, signal: AbortSignal): Promise<void> => {
      id ??= await createSession(composed, provider, model, environment.workspace);
      const session = await composed.root.store.sessions.open(id, { waitMs: OPEN_WAIT_MS }, signal);
      const shown = openView(context, config, true);
      view = shown;
      try {
        const result = await runTurn({ composed, session, view: shown, task, keep: true, signal });
        await shown.finish(result);
      } finally {
        shown.close();
        view = undefined;
      }
    };
    const info = (): readonly string[] => [
      `session   ${id ?? '(none yet)'}`,
      `model     ${model} (${provider})`,
      `folder    ${environment.workspace}`,
      `state     ${config.state.home}`,
    ];
    try {
      await runRepl({
        prompt,
        io: context.io,
        onTurn,
        info,
        kill: () => {
          view?.close();
          process.exit(130);
        },
      });
    } finally {
      prompt.close();
    }
    return 0;
  });
}
