import type { OpenAiServer, ServerScript } from '../../fakes/openai-server.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import { type Ended, type Running, type StartOptions, startOdek } from './odek.ts';
import { createPlace, type Place } from './place.ts';
import { onTerminal, type Seen, type Step, type TerminalOptions } from './terminal.ts';
import { assertWellFormed } from './well-formed.ts';

/** A place, a model server, and odek between them. */
export interface Stage extends Place {
  readonly server: OpenAiServer;
  /** Runs odek to its end, pointed at the server. */
  run(args: readonly string[], options?: StartOptions): Promise<Ended>;
  start(args: readonly string[], options?: StartOptions): Running;
  /** The same on a pseudo-terminal, with a person who types. */
  terminal(args: readonly string[], steps: readonly Step[], options?: TerminalOptions): Promise<Seen>;
}

/** For suites of several processes at once: a slow machine is no failure. */
export const PATIENT = { timeout: 90_000 };

/** The key that the operator's configuration holds; no output of odek may show it. */
export const OPERATOR_KEY = 'canary-4f1c9a77e0b2-operator';

/**
 * Sets the stage, does `work` and clears everything away: processes, server, files. The operator's
 * configuration names the server; `config` adds to it. Afterwards every request that the server got
 * must have been one that a strict service accepts.
 */
export async function onStage(
  script: ServerScript,
  work: (stage: Stage) => Promise<void>,
  options: { readonly config?: object; readonly configured?: boolean } = {},
): Promise<void> {
  const [place, server] = await Promise.all([createPlace(), startOpenAiServer(script)]);
  const started: Running[] = [];
  const start = (args: readonly string[], startOptions?: StartOptions): Running => {
    const running = startOdek(place, args, startOptions);
    started.push(running);
    return running;
  };
  try {
    if (options.configured !== false) {
      const providers = { fixture: { format: 'openai', base_url: server.url, api_key: OPERATOR_KEY } };
      await place.configure({ provider: 'fixture', model: 'scripted', providers, ...options.config });
    }
    const terminal = (args: readonly string[], steps: readonly Step[], terminalOptions?: TerminalOptions): Promise<Seen> =>
      onTerminal(place, args, steps, terminalOptions);
    await work({ ...place, server, start, run: (args, startOptions) => start(args, startOptions).ended, terminal });
    assertWellFormed(server.requests);
  } finally {
    for (const { child, ended } of started) {
      child.kill('SIGKILL');
      await ended.catch(() => {});
    }
    await server.close();
    await place.remove();
  }
}
