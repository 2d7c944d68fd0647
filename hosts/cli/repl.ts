import { createSystemClock } from '../../adapters/clock/system.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import type { SessionHeader } from '../../ports/session.ts';
import type { Composed } from '../compose.ts';
import { loadConfig } from '../config/load.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { Edges } from '../environment.ts';
import type { PluginBoard } from '../plugin-host/board.ts';
import { enrichedTurn } from '../references.ts';
import { newSessionId } from '../session-id.ts';
import type { CommandContext } from './command.ts';
import { findSession, OPEN_WAIT_MS, sessionFlags, tellOfMove } from './continue.ts';
import { EXIT } from './exit-codes.ts';
import { hostEnvironment, loadTold, warner, withHost } from './host.ts';
import { onInterrupt } from './interrupt.ts';
import { type OpenView, openView } from './open-view.ts';
import { withConsent } from './operator-consent.ts';
import { operatorQuestion } from './operator-question.ts';
import { CLI_POLICIES } from './policy.ts';
import { noteOf } from './render/notes.ts';
import { sanitise } from './render/sanitise.ts';
import type { ReplCommand } from './repl/commands.ts';
import { createHeldQuestions, type HeldQuestions } from './repl/held-questions.ts';
import { pluginCommands } from './repl/plugin-commands.ts';
import { createPrompt, type Prompt } from './repl/prompt.ts';
import { runRepl } from './repl/repl.ts';
import { withStore } from './store.ts';
import { runTurn, terminalPerson } from './turn.ts';

async function startingPoint(context: CommandContext): Promise<{ header: SessionHeader | undefined; config: ResolvedConfig }> {
  const { flags } = context.args;
  const id = typeof flags.id === 'string' ? flags.id : undefined;
  if (id === undefined) return { header: undefined, config: await loadTold(context) };
  const { config } = await loadConfig({ env: context.env, cwd: context.cwd, flags });
  const header = await withStore(config, 'repl', (store) => findSession(store.sessions, id));
  tellOfMove(context, header);
  return { header, config: await loadTold(context, sessionFlags(header, flags)) };
}

async function createSession(composed: Composed, provider: string, model: string, workspace: string): Promise<string> {
  const { store, ids, clock } = composed.root;
  const id = newSessionId(clock.now(), ids);
  const session = await store.sessions.create({ id, title: '', provider, model, workspace, listed: true, externalRefs: [] });
  await session.close();
  return id;
}

/** What is told between two turns, when no view is open: above the input that is being typed, if there is one. */
function betweenTurns(context: CommandContext, tell: Prompt['tell']): Pick<OpenView, 'onEvent' | 'log'> {
  const warn = warner(context);
  const told = (text: string, isWarning: boolean): void => {
    const lines = sanitise(text).trim().split('\n');
    const shown = isWarning ? lines.map((line) => `odek: ${line}`) : lines.map((line) => `· ${line}`);
    if (tell(shown)) return;
    if (isWarning) for (const line of lines) warn(line);
    else context.io.stderr.write(`${shown.join('\n')}\n`);
  };
  return {
    onEvent: (event) => {
      const note = noteOf(event);
      if (note?.warning) told(note.text, true);
    },
    log: (level, text) => {
      if (level !== 'debug') told(text, level !== 'info');
    },
  };
}

/** A prompt that gives nothing more once `quit` fired, and has the terminal for itself while it reads. */
function endedBy(quit: AbortSignal, questions: HeldQuestions, prompt: Prompt): Prompt {
  /** Ctrl-C is a no to what is open. */
  const asking = async (work: Promise<void>): Promise<void> => {
    const refusing = onInterrupt(() => {}, ['SIGINT']);
    refusing.signal.addEventListener('abort', questions.refuse, { once: true });
    await work.finally(refusing.stop);
  };
  return {
    async read(signal) {
      await asking(questions.hold(quit));
      const text = quit.aborted ? undefined : await prompt.read(signal ? AbortSignal.any([quit, signal]) : quit);
      if (text !== undefined) await asking(questions.release(quit));
      return text;
    },
    tell: prompt.tell,
    close: prompt.close,
  };
}

/** `/plugin …`. What is about plugins is read when it is first asked for. */
function slashPlugin(context: CommandContext, config: ResolvedConfig, board: PluginBoard): ReplCommand {
  return {
    summary: 'plugins: list, install, review, trust, enable, … as in odek plugin',
    run: async (rest, print) => {
      const { runSlashPlugin } = await import('./plugin.ts');
      const { livePlugins } = await import('../plugin-host/live.ts');
      const { io, cwd, env } = context;
      return runSlashPlugin(rest, print, { config, cwd, env, isPerson: io.stdinIsTty && io.stderrIsTty, live: livePlugins(board) });
    },
  };
}

/** `odek repl`: turn after turn in one session. Each turn opens the session anew, so that what another process did is seen. */
export async function run(context: CommandContext): Promise<number> {
  const { header, config } = await startingPoint(context);
  const environment = await hostEnvironment(context, config, 'terminal');
  const clock = createSystemClock();
  let prompt: Prompt | undefined;
  const idle = betweenTurns(context, (lines) => prompt?.tell(lines) === true);
  let view: OpenView | undefined;
  const log: Edges['log'] = (level, text) => (view ?? idle).log(level, text);
  const person = await terminalPerson(clock, { config, policy: CLI_POLICIES.repl, log });
  // Ctrl-C ends a turn; a terminal that is closed ends the repl, and what its turn started with it.
  const quit = onInterrupt(() => view?.close(), ['SIGTERM', 'SIGHUP']);
  // Until the first prompt, Ctrl-C ends what is being started.
  const starting = onInterrupt(() => {}, ['SIGINT']);
  const questions = createHeldQuestions();
  const { consent, ...asked } = await withConsent(person, config, clock);
  const onHeld = (card: string): void => log('info', `${card.split(':\n', 1)[0]}; you are asked once your input is sent`);
  const edges: Edges = {
    ...asked,
    ...(consent && { consent: questions.guard(consent, onHeld) }),
    signal: AbortSignal.any([starting.signal, quit.signal]),
    ...operatorQuestion(clock, person.approver !== undefined),
    onEvent: (event) => (view ?? idle).onEvent(event),
    log,
  };
  const { id: provider, model } = environment.selection;
  const talk = async (composed: Composed): Promise<number> => {
    starting.stop();
    // Made with the first turn, so that looking in and leaving leaves nothing behind.
    let id = header?.id;
    const onTurn = async (task: string, interrupted: AbortSignal): Promise<void> => {
      const signal = AbortSignal.any([interrupted, quit.signal]);
      id ??= await createSession(composed, provider, model, environment.workspace);
      const session = await composed.root.store.sessions.open(id, { waitMs: OPEN_WAIT_MS }, signal);
      await session.update({ listed: true, provider, model });
      const shown = openView(context, config, true);
      view = shown;
      try {
        const turn = await enrichedTurn({ task, contextFiles: [] }, environment, composed, (text) => shown.log('warning', text));
        const result = await runTurn({ composed, session, view: shown, keep: true, signal, ...turn });
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
    const kill = (): never => {
      view?.close();
      process.exit(EXIT.cancelled);
    };
    const shown = endedBy(
      quit.signal,
      questions,
      await createPrompt({
        io: context.io,
        historyFile: config.state.replHistory,
        clock: createSystemClock(),
        redact: createRedactor(config.secrets).text,
        editing: context.env.TERM !== 'dumb',
      }),
    );
    prompt = shown;
    try {
      const { extensions } = composed.root;
      await runRepl({
        ...{ prompt: shown, io: context.io, onTurn, info, kill },
        commands: { plugin: slashPlugin(context, config, extensions) },
        lateCommands: () => pluginCommands(extensions, { workspace: environment.workspace, sessionId: () => id }),
        commandsReady: extensions.begun,
      });
    } finally {
      shown.close();
    }
    return quit.signal.aborted ? EXIT.cancelled : EXIT.ok;
  };
  try {
    return await withHost(CLI_POLICIES.repl, environment, edges, talk);
  } finally {
    starting.stop();
    quit.stop();
  }
}
