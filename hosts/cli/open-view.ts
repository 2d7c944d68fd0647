import { createSystemClock } from '../../adapters/clock/system.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { CommandContext } from './command.ts';
import type { RunView } from './render/run-view.ts';
import { createView } from './render/view.ts';

/** A view, and a way to tell something beside the run without disturbing what is on the screen. */
export interface OpenView extends RunView {
  log(level: string, text: string): void;
}

export function openView(context: CommandContext, config: ResolvedConfig, listed: boolean): OpenView {
  const clock = createSystemClock();
  const view = createView({ io: context.io, clock, flags: context.args.flags, config, env: context.env, listed });
  return {
    onEvent: view.onEvent,
    finish: view.finish,
    close: view.close,
    log: (level, text) => {
      const notice = level === 'warning' || level === 'error' ? 'warning' : 'info';
      view.onEvent({ type: 'notice', level: notice, text, runId: '', at: clock.now() });
    },
  };
}
