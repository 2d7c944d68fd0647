import type { Clock } from '../../../ports/clock.ts';
import type { RunEvent } from '../../../ports/event.ts';
import type { RunResult } from '../../../ports/run.ts';
import type { InteractionMode } from '../../config/types.ts';
import type { TerminalIo } from '../command.ts';
import { wrapText } from './cells.ts';
import { createMarkdownStream, type Lexer, loadLexer, type MarkdownStream } from './markdown-stream.ts';
import { unshownPart } from './message-text.ts';
import { noteLines, noteOf } from './notes.ts';
import { createProgress, iterationHeader, statusLine, summarise, updateProgress } from './progress.ts';
import { createReasoningStream, type ReasoningStream } from './reasoning.ts';
import type { RunView } from './run-view.ts';
import { createScreen, type LiveLine } from './screen.ts';
import { createPainter, SGR } from './style.ts';
import { type CallRecord, createCallTracker } from './tool-calls.ts';
import { callLines, runningLine } from './tool-lines.ts';

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

/** Running calls shown at once. */
const MAX_RUNNING_LINES = 8;
/** Milliseconds between two changes of the status line: at most eight a second. */
const STATUS_MS = 125;
/** Of an unfinished block, what can be on the screen at all. */
const TAIL_CHARS_PER_CELL = 2;

type Stage = 'nothing' | 'reasoning' | 'text' | 'progress';

/** The view of a run on a terminal: what is done scrolls away, what is going on stands below it. */
export function createTerminalView(options: TerminalViewOptions): RunView {
  const { io, clock, mode } = options;
  const live = (options.live ?? true) && mode !== 'off';
  const showReasoning = (options.showReasoning ?? true) && mode !== 'off';
  const out = createPainter(options.color && io.stdoutIsTty);
  const err = createPainter(options.color && io.stderrIsTty);
  const progress = createProgress();
  const calls = createCallTracker();
  const asked = new Set<string>();

  let lexer: Lexer | undefined;
  let loading: Promise<void> | undefined;
  let waiting: RunEvent[] = [];
  let stage: Stage = 'nothing';
  let reasoning: ReasoningStream | undefined;
  let text: MarkdownStream | undefined;
  let streamed = '';
  let streamedIteration = 0;
  let lastMessage = '';
  let statusText = '';
  let statusAt = Number.NEGATIVE_INFINITY;
  let status = false;
  let finished = false;

  const plain = (value: string): LiveLine => ({ text: value, paint: (fitted) => fitted });
  const dim = (value: string): LiveLine => ({ text: value, paint: (fitted) => err.paint(SGR.dim, fitted) });

  const tailLines = ({ columns, rows }: { columns: number; rows: number }): LiveLine[] => {
    const source = stage === 'reasoning' ? (reasoning?.tail() ?? '') : (text?.tail() ?? '');
    if (source === '') return [];
    const visible = source.slice(-(columns * rows * TAIL_CHARS_PER_CELL));
    return wrapText(visible, columns - 1).map(stage === 'reasoning' ? dim : plain);
  };

  const refreshStatus = (): LiveLine[] => {
    if (!status || !io.stderrIsTty) return [];
    const now = clock.monotonic();
    if (now - statusAt >= STATUS_MS) {
      statusText = statusLine(progress, clock.now());
      statusAt = now;
    }
    return [dim(statusText)];
  };

  const runningLines = (columns: number): LiveLine[] => {
    const running = calls.running();
    const shown = running.slice(0, MAX_RUNNING_LINES).map((call) => dim(runningLine(call, columns - 1)));
    return running.length > shown.length ? [...shown, dim(`  … and ${running.length - shown.length} more`)] : shown;
  };

  const screen = createScreen({
    io,
    clock,
    live,
    region: (size) => [...tailLines(size), ...runningLines(size.columns), ...refreshStatus()],
  });
  const width = (): number => screen.size().columns;

  const progressLines = (lines: readonly string[]): void => {
    if (lines.length === 0) return;
    endStage();
    if (stage === 'text' || stage === 'reasoning') screen.commit('stderr', ['']);
    stage = 'progress';
    screen.commit('stderr', lines);
  };

  /** Finishes what is being streamed; `stage` still names it, so that the next one can set itself apart. */
  const endStage = (): void => {
    if (reasoning !== undefined) {
      const rest = reasoning.end(width()).map((line) => err.paint(SGR.dim, line));
      reasoning = undefined;
      screen.commit('stderr', rest);
    }
    if (text !== undefined) {
      const rest = text.end();
      text = undefined;
      screen.commit('stdout', rest);
    }
  };

  const addReasoning = (delta: string): void => {
    if (!showReasoning) return;
    if (reasoning === undefined) {
      endStage();
      if (stage === 'text') screen.commit('stdout', ['']);
      reasoning = createReasoningStream();
      stage = 'reasoning';
    }
    screen.commit(
      'stderr',
      reasoning.push(delta, width()).map((line) => err.paint(SGR.dim, line)),
    );
  };

  const addText = (delta: string): void => {
    if (lexer === undefined) return;
    if (text === undefined) {
      if (delta.trim() === '') return;
      endStage();
      if (stage !== 'nothing') screen.commit(stage === 'text' ? 'stdout' : 'stderr', ['']);
      text = createMarkdownStream(lexer, () => ({ width: width(), painter: out }));
      stage = 'text';
    }
    screen.commit('stdout', text.push(delta));
  };

  const addDelta = (iteration: number, delta: string): void => {
    if (iteration !== streamedIteration) {
      streamed = '';
      streamedIteration = iteration;
      lastMessage = '';
    }
    streamed += delta;
    addText(delta);
  };

  const addMessage = (event: Extract<RunEvent, { type: 'message' }>): void => {
    const shown = event.iteration === streamedIteration ? streamed : '';
    lastMessage = event.message.content;
    // Text that was streamed and then masked or corrected cannot be taken back, and is not repeated.
    if (shown.trim() === '') {
      if (event.message.reasoning !== undefined && stage !== 'reasoning') addReasoning(event.message.reasoning);
      addText(event.message.content);
    } else if (event.message.content.startsWith(shown)) {
      addText(event.message.content.slice(shown.length));
    }
    endStage();
  };

  const showCalls = (records: readonly CallRecord[]): void => {
    if (mode === 'off') return;
    progressLines(records.flatMap((call) => callLines(call, { painter: err, width: width() - 1, glyphs: true }, mode === 'verbose')));
  };

  const beginIteration = (): void => {
    showCalls(calls.drain('unknown'));
    status = mode !== 'off';
    if (mode !== 'off') progressLines([err.paint(SGR.dim, iterationHeader(progress, clock.now()))]);
  };

  const speedLine = (event: Extract<RunEvent, { type: 'iteration_completed' }>): void => {
    const { call_duration_ms: ms, tokens_per_second: speed } = event.data;
    if ((mode !== 'enhance' && mode !== 'verbose') || ms === undefined || speed === undefined) return;
    progressLines([err.paint(SGR.dim, `  model call ${(ms / 1000).toFixed(1)} s · ${speed.toFixed(1)} tokens/s`)]);
  };

  const showNote = (event: RunEvent): void => {
    const note = noteOf(event);
    if (note === undefined || (mode === 'off' && !note.warning)) return;
    const sgr = note.warning ? SGR.caution : SGR.dim;
    const lines = noteLines(note).flatMap((line) => wrapText(line, width() - 2));
    progressLines(lines.map((line, index) => err.paint(sgr, `${index === 0 ? '· ' : '  '}${line}`)));
  };

  const onApproval = (event: RunEvent): void => {
    if (event.type === 'approval_asked') {
      endStage();
      asked.add(event.request.id);
      screen.pause();
    } else if (event.type === 'approval_answered') {
      asked.delete(event.request_id);
      if (asked.size === 0) screen.resume();
    }
  };

  const show = (event: RunEvent): void => {
    updateProgress(progress, event);
    switch (event.type) {
      case 'iteration_started':
        beginIteration();
        break;
      case 'reasoning_delta':
        addReasoning(event.text);
        break;
      case 'text_delta':
        addDelta(event.iteration, event.text);
        break;
      case 'message':
        addMessage(event);
        break;
      case 'tool_call_started':
      case 'tool_call_completed':
      case 'tool_call_failed':
      case 'tool_result':
        endStage();
        showCalls(calls.take(event));
        break;
      case 'iteration_completed':
        showCalls(calls.drain('unknown'));
        speedLine(event);
        break;
      case 'approval_asked':
      case 'approval_answered':
        onApproval(event);
        break;
      default:
        showNote(event);
    }
    screen.touch();
  };

  const drainWaiting = (): void => {
    const events = waiting;
    waiting = [];
    for (const event of events) show(event);
  };

  /** Events keep their order: while the parser loads they wait behind the first that needs it. */
  const load = (): Promise<void> => {
    loading ??= (options.loadLexer ?? loadLexer)().then((loaded) => {
      lexer = loaded;
      drainWaiting();
    });
    return loading;
  };

  const showResult = (result: RunResult): void => {
    asked.clear();
    screen.resume();
    showCalls(calls.drain('cancelled'));
    endStage();
    addText(unshownPart(lastMessage === '' ? streamed : lastMessage, result.answer));
    endStage();
    status = false;
    const summary = summarise(result, progress, calls.count(), options.listed ?? false);
    if (mode === 'off' && result.outcome === 'answer') return;
    const good = result.outcome === 'answer' || result.outcome === 'partial';
    const [first, ...rest] = summary.lines;
    const lines = [
      `${err.paint(good ? SGR.good : SGR.bad, summary.mark)} ${first}`,
      ...rest.map((line) => err.paint(SGR.dim, `  ${line}`)),
    ];
    if (stage === 'progress') screen.commit('stderr', ['']);
    progressLines(lines);
  };

  return {
    onEvent(event) {
      if (finished) return;
      const needsLexer = event.type === 'text_delta' || event.type === 'message';
      if (lexer === undefined && (waiting.length > 0 || needsLexer)) {
        waiting.push(event);
        void load().catch(() => undefined);
        return;
      }
      show(event);
    },
    async finish(result) {
      if (finished) return;
      if (result.answer !== '' || waiting.length > 0) await load();
      finished = true;
      showResult(result);
      screen.close();
      await screen.flush();
    },
    close() {
      finished = true;
      screen.close();
    },
  };
}
