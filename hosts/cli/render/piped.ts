import type { RunEvent } from '../../../ports/event.ts';
import type { RunResult } from '../../../ports/run.ts';
import type { InteractionMode } from '../../config/types.ts';
import type { TerminalIo } from '../command.ts';
import { noteLines, noteOf } from './notes.ts';
import { outputOf } from './output.ts';
import { createProgress, summarise, updateProgress } from './progress.ts';
import type { RunView } from './run-view.ts';
import { neutralise, sanitise, sanitiseLine } from './sanitise.ts';
import { createPainter } from './style.ts';
import { type CallRecord, createCallTracker } from './tool-calls.ts';
import { callLines } from './tool-lines.ts';

export interface PipedViewOptions {
  readonly io: TerminalIo;
  /** `off`: no progress on stderr; warnings and the end of a run that did not answer stay. */
  readonly mode: InteractionMode;
  readonly listed?: boolean;
  /** What stdout carries at the end. Default: the answer and one newline. */
  printResult?(result: RunResult): string;
}

const LINE_CELLS = 120;

/** The answer with exactly one newline at its end; nothing for no answer. Control characters are made visible. */
function answerText(result: RunResult): string {
  const answer = neutralise(result.answer).replace(/\n+$/, '');
  return answer === '' ? '' : `${answer}\n`;
}

/** The view of a run whose stdout is a pipe or a file: plain lines on stderr, the answer alone on stdout. */
export function createPipedView(options: PipedViewOptions): RunView {
  const { io, mode } = options;
  const quiet = mode === 'off';
  const stdout = outputOf(io.stdout);
  const stderr = outputOf(io.stderr);
  const painter = createPainter(false);
  const progress = createProgress();
  const calls = createCallTracker();
  let finished = false;

  const tell = (lines: readonly string[]): void => {
    if (lines.length > 0) stderr.write(`${lines.join('\n')}\n`);
  };

  const tellCalls = (records: readonly CallRecord[]): void => {
    if (!quiet) tell(records.flatMap((call) => callLines(call, { painter, width: LINE_CELLS, glyphs: false }, mode === 'verbose')));
  };

  const tellProgress = (event: RunEvent): void => {
    if (quiet) return;
    if (event.type === 'iteration_started') {
      tell([`iteration ${event.iteration}/${event.max_iterations}${progress.model === '' ? '' : ` · ${sanitiseLine(progress.model)}`}`]);
    } else if (event.type === 'message' && !event.final && event.message.content.trim() !== '') {
      tell(
        sanitise(event.message.content)
          .trim()
          .split('\n')
          .map((line) => `  ${line}`),
      );
    }
  };

  const tellNote = (event: RunEvent): void => {
    const note = noteOf(event);
    if (note === undefined || (quiet && !note.warning)) return;
    tell(noteLines(note).map((line) => `${note.warning ? 'warning: ' : '· '}${line}`));
  };

  return {
    onEvent(event) {
      if (finished) return;
      updateProgress(progress, event);
      tellCalls(calls.take(event));
      if (event.type === 'iteration_completed') tellCalls(calls.drain('unknown'));
      tellProgress(event);
      tellNote(event);
    },
    async finish(result) {
      if (finished) return;
      finished = true;
      tellCalls(calls.drain('cancelled'));
      const summary = summarise(result, progress, calls.count(), options.listed ?? false);
      if (!quiet || result.outcome !== 'answer')
        tell(summary.lines.map((line, index) => (index === 0 ? `${summary.mark} ${line}` : `  ${line}`)));
      stdout.write((options.printResult ?? answerText)(result));
      await stderr.flush().catch(() => undefined);
      await stdout.flush();
    },
    close() {
      finished = true;
    },
  };
}
