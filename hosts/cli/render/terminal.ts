import type { Clock } from '../../../ports/clock.ts';
import type { RunEvent } from '../../../ports/event.ts';
import type { RunResult } from '../../../ports/run.ts';
import type { InteractionMode } from '../../config/types.ts';
import type { TerminalIo } from '../command.ts';
import { wrapText } from './cells.ts';
import { createEventQueue } from './event-queue.ts';
import { type Lexer, loadLexer } from './markdown-stream.ts';
import { createMessageText } from './message-text.ts';
import { noteLines, noteOf } from './notes.ts';
import { createPlanPanel } from './plan-panel.ts';
import { createProgress, iterationHeader, summarise, updateProgress } from './progress.ts';
import type { RunView } from './run-view.ts';
import { createScreen } from './screen.ts';
import { createScroll } from './scroll.ts';
import { createStatus, runningLines } from './standing-lines.ts';
import { createPainter, SGR } from './style.ts';
import { type CallRecord, createCallTracker } from './tool-calls.ts';
import { callLines } from './tool-lines.ts';

export interface TerminalViewOptions {
  readonly io: TerminalIo;
  readonly color: boolean;
  readonly clock: Clock;
  /** Default: true. */
  readonly showReasoning?: boolean;
  readonly mode: InteractionMode;
  /** Whether the cursor may be moved (not with `TERM=dumb`). Default: true. */
  readonly live?: boolean;
  /** Whether the session can be found again; its id is then part of the summary. Default: false. */
  readonly listed?: boolean;
  /** Default: the markdown parser, loaded when the first text arrives. */
  readonly loadLexer?: () => Promise<Lexer>;
}

/** The parts of a terminal view, and what they share. */
function assemble(options: TerminalViewOptions) {
  const { io, clock, mode } = options;
  const out = createPainter(options.color && io.stdoutIsTty);
  const err = createPainter(options.color && io.stderrIsTty);
  const progress = createProgress();
  const calls = createCallTracker();
  const plan = createPlanPanel(err);
  const status = createStatus(progress, clock, err);
  const live = (options.live ?? true) && mode !== 'off';
  const shown = { status: false };
  const screen = createScreen({
    io,
    clock,
    live,
    region: (size) => [
      ...scroll.tail(size),
      ...plan.lines(size),
      ...runningLines(calls.running(), size.columns, err),
      ...(shown.status && io.stderrIsTty ? [status()] : []),
    ],
  });
  const scroll = createScroll({ screen, out, err });
  return { err, progress, calls, plan, live, screen, scroll, shown, text: createMessageText() };
}

type Parts = ReturnType<typeof assemble>;

function showCalls({ err, screen, scroll }: Parts, records: readonly CallRecord[], mode: InteractionMode): void {
  if (mode === 'off') return;
  const style = { painter: err, width: screen.size().columns - 1, glyphs: true };
  scroll.progress(records.flatMap((call) => callLines(call, style, mode === 'verbose')));
}

function showNote({ err, screen, scroll }: Parts, event: RunEvent, mode: InteractionMode): void {
  const note = noteOf(event);
  if (note === undefined || (mode === 'off' && !note.warning)) return;
  const lines = noteLines(note).flatMap((line) => wrapText(line, screen.size().columns - 2));
  scroll.progress(lines.map((line, index) => err.paint(note.warning ? SGR.caution : SGR.dim, `${index === 0 ? '· ' : '  '}${line}`)));
}

function showSpeed({ err, scroll }: Parts, event: Extract<RunEvent, { type: 'iteration_completed' }>, mode: InteractionMode): void {
  const { call_duration_ms: ms, tokens_per_second: speed } = event.data;
  if ((mode !== 'enhance' && mode !== 'verbose') || ms === undefined || speed === undefined) return;
  scroll.progress([err.paint(SGR.dim, `  model call ${(ms / 1000).toFixed(1)} s · ${speed.toFixed(1)} tokens/s`)]);
}

function showSummary({ err, progress, calls, scroll }: Parts, result: RunResult, listed: boolean): void {
  const { mark, lines } = summarise(result, progress, calls.count(), listed);
  const good = result.outcome === 'answer' || result.outcome === 'partial';
  const [first, ...rest] = lines;
  scroll.progress([`${err.paint(good ? SGR.good : SGR.bad, mark)} ${first}`, ...rest.map((line) => err.paint(SGR.dim, `  ${line}`))], true);
}

/** The view of a run on a terminal: what is done scrolls away, what is going on stands below it. */
export function createTerminalView(options: TerminalViewOptions): RunView {
  const { clock, mode } = options;
  const showReasoning = (options.showReasoning ?? true) && mode !== 'off';
  const parts = assemble(options);
  const { err, progress, calls, plan, live, screen, scroll, shown, text } = parts;
  const asked = new Set<string>();
  let finished = false;

  const addText = (added: string, lexer: Lexer | undefined): void => {
    if (lexer !== undefined) scroll.text(added, lexer);
  };

  const beginIteration = (): void => {
    showCalls(parts, calls.drain('unknown'), mode);
    shown.status = mode !== 'off';
    if (shown.status) scroll.progress([err.paint(SGR.dim, iterationHeader(progress, clock.now()))], true);
  };

  const addMessage = ({ iteration, message }: Extract<RunEvent, { type: 'message' }>, lexer: Lexer | undefined): void => {
    const rest = text.whole(iteration, message.content);
    if (rest === message.content && message.reasoning !== undefined && showReasoning && !scroll.isReasoning())
      scroll.reasoning(message.reasoning);
    addText(rest, lexer);
    scroll.end();
  };

  const answered = (id: string): void => {
    asked.delete(id);
    if (asked.size === 0) screen.resume();
  };

  const show = (event: RunEvent, lexer: Lexer | undefined): void => {
    updateProgress(progress, event);
    switch (event.type) {
      case 'iteration_started':
        beginIteration();
        break;
      case 'reasoning_delta':
        if (showReasoning) scroll.reasoning(event.text);
        break;
      case 'text_delta':
        text.delta(event.iteration, event.text);
        addText(event.text, lexer);
        break;
      case 'message':
        addMessage(event, lexer);
        break;
      case 'tool_call_started':
      case 'tool_call_completed':
      case 'tool_call_failed':
      case 'tool_result':
        scroll.end();
        showCalls(parts, calls.take(event), mode);
        break;
      case 'iteration_completed':
        showCalls(parts, calls.drain('unknown'), mode);
        showSpeed(parts, event, mode);
        break;
      case 'approval_asked':
        scroll.end();
        asked.add(event.request.id);
        screen.pause();
        break;
      case 'approval_answered':
        answered(event.request_id);
        break;
      case 'question_asked':
        scroll.end();
        asked.add(event.question_id);
        screen.pause();
        break;
      case 'question_answered':
        answered(event.question_id);
        break;
      default:
        if (!(plan.take(event) && live)) showNote(parts, event, mode);
    }
    screen.touch();
  };

  const queue = createEventQueue(options.loadLexer ?? loadLexer, show);

  const showResult = (result: RunResult, lexer: Lexer): void => {
    screen.resume();
    showCalls(parts, calls.drain('cancelled'), mode);
    scroll.end();
    addText(text.unshown(result.answer), lexer);
    scroll.end();
    shown.status = false;
    if (mode !== 'off') scroll.progress(plan.finalLines(screen.size().columns), true);
    if (mode !== 'off' || result.outcome !== 'answer') showSummary(parts, result, options.listed ?? false);
  };

  return {
    onEvent(event) {
      if (!finished) queue.take(event);
    },
    async finish(result) {
      if (finished) return;
      const lexer = await queue.ready();
      finished = true;
      showResult(result, lexer);
      screen.close();
      await screen.flush();
    },
    close() {
      finished = true;
      screen.close();
    },
  };
}
