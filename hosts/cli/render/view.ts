import type { Clock } from '../../../ports/clock.ts';
import type { ResolvedConfig } from '../../config/types.ts';
import type { FlagValue, TerminalIo } from '../command.ts';
import { createJsonView } from './json.ts';
import { createPipedView } from './piped.ts';
import type { RunView } from './run-view.ts';
import { createTerminalView } from './terminal.ts';

export interface ViewOptions {
  readonly io: TerminalIo;
  readonly clock: Clock;
  /** By flag name. Read here: `json`. */
  readonly flags: Readonly<Record<string, FlagValue>>;
  readonly config: Pick<ResolvedConfig, 'interaction_mode' | 'no_color'>;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Whether the session can be found again. */
  readonly listed?: boolean;
}

/** Colour: not where `no_color` (which `--no-color` sets) or a non-empty `NO_COLOR` says so, and not on a dumb terminal. */
function wantsColor({ config, env }: Pick<ViewOptions, 'config' | 'env'>): boolean {
  return !config.no_color && !env.NO_COLOR && env.TERM !== 'dumb';
}

/** The view that fits: JSON where asked for, live on a terminal, plain into a pipe or a file. */
export function createView({ io, clock, flags, config, env, listed = false }: ViewOptions): RunView {
  const mode = config.interaction_mode;
  if (flags.json === true) return createJsonView({ io, mode, listed });
  if (!io.stdoutIsTty) return createPipedView({ io, mode, listed });
  return createTerminalView({
    io,
    clock,
    mode,
    color: wantsColor({ config, env }),
    live: env.TERM !== 'dumb',
    listed,
  });
}
