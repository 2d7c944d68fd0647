import type { Clock } from '../../../ports/clock.ts';
import type { TerminalIo } from '../command.ts';
import { cellWidth, truncateCells } from './cells.ts';
import { outputOf } from './output.ts';

/** One line of the region below the output. `text` without escapes; `paint` colours it when it is drawn. */
export interface LiveLine {
  readonly text: string;
  paint(text: string): string;
}

/**
 * Output that stays, and below it a region that is redrawn. Before anything is written the region
 * is taken away, so that nothing of it is left behind.
 */
export interface Screen {
  /** Finished lines. */
  commit(stream: 'stdout' | 'stderr', lines: readonly string[]): void;
  /** Something in the region changed; it is redrawn within `REFRESH_MS`. */
  touch(): void;
  /** Takes the region away and holds back output until `resume`; somebody else has the screen. */
  pause(): void;
  resume(): void;
  /** Takes the region away for good. */
  close(): void;
  /** Cells and rows right now. */
  size(): { readonly columns: number; readonly rows: number };
  flush(): Promise<void>;
}

export interface ScreenOptions {
  readonly io: TerminalIo;
  readonly clock: Clock;
  /** False where the cursor cannot be moved: there is no region then. */
  readonly live: boolean;
  /** The region's lines from top to bottom, asked at each redraw; more than fit are cut at the top. */
  region(size: { readonly columns: number; readonly rows: number }): readonly LiveLine[];
}

/** Milliseconds between two redraws. */
const REFRESH_MS = 60;
/** Milliseconds after which the region is redrawn although nothing changed: the time goes on. */
const IDLE_MS = 1_000;
const DEFAULT_ROWS = 24;
/** Characters held back while paused; beyond it output is written through. */
const MAX_HELD_CHARS = 1_048_576;

interface SizedStream {
  readonly columns?: number;
  readonly rows?: number;
}

function sizeOf(io: TerminalIo): { columns: number; rows: number } {
  const stream = io.stdout as SizedStream;
  return { columns: Math.max(20, stream.columns || io.columns || 80), rows: Math.max(4, stream.rows || DEFAULT_ROWS) };
}

/** Rows that `widths` take at `columns`: a terminal that got narrower has wrapped what was drawn. */
function rowsTaken(widths: readonly number[], columns: number): number {
  return widths.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
}

export function createScreen({ io, clock, live, region }: ScreenOptions): Screen {
  const outputs = { stdout: outputOf(io.stdout), stderr: outputOf(io.stderr) };
  const regionOutput = io.stderrIsTty ? outputs.stderr : outputs.stdout;
  let drawn: number[] = [];
  let drawnAt = Number.NEGATIVE_INFINITY;
  let timer: (() => void) | undefined;
  let paused = false;
  let closed = false;
  let held: { stream: 'stdout' | 'stderr'; text: string }[] = [];
  let heldChars = 0;
  let hooked = false;
  let refreshing = false;

  const eraser = (): string => {
    if (drawn.length === 0) return '';
    const up = rowsTaken(drawn, sizeOf(io).columns) - 1;
    drawn = [];
    return `\r${up > 0 ? `\u001b[${up}A` : ''}\u001b[J`;
  };

  const draw = (): string => {
    const size = sizeOf(io);
    const lines = region(size).slice(-(size.rows - 1));
    const fitted = lines.map((line) => ({ line, text: truncateCells(line.text, size.columns - 1) }));
    drawn = fitted.map(({ text }) => cellWidth(text));
    drawnAt = clock.monotonic();
    return fitted.map(({ line, text }) => line.paint(text)).join('\n');
  };

  const schedule = (ms: number): void => {
    timer?.();
    refreshing = ms < IDLE_MS;
    timer = clock.after(ms, redraw);
  };

  const redraw = (): void => {
    timer = undefined;
    refreshing = false;
    if (!live || paused || closed) return;
    hook();
    regionOutput.write(eraser() + draw());
    schedule(IDLE_MS);
  };

  const onResize = (): void => {
    if (drawn.length > 0) redraw();
  };

  /** An exit that nobody told us about must not leave the region on the screen. */
  const close = (): void => {
    if (closed) return;
    closed = true;
    timer?.();
    regionOutput.write(eraser());
    if (hooked) {
      io.stdout.removeListener('resize', onResize);
      process.removeListener('exit', close);
    }
  };

  const hook = (): void => {
    if (hooked) return;
    hooked = true;
    io.stdout.on('resize', onResize);
    process.on('exit', close);
  };

  const write = (stream: 'stdout' | 'stderr', text: string): void => {
    const wasDrawn = drawn.length > 0;
    const erase = eraser();
    const target = outputs[stream];
    const again = wasDrawn && !closed ? draw() : '';
    if (target === regionOutput) {
      target.write(erase + text + again);
      return;
    }
    regionOutput.write(erase);
    target.write(text);
    regionOutput.write(again);
  };

  return {
    commit(stream, lines) {
      if (lines.length === 0) return;
      const text = `${lines.join('\n')}\n`;
      if (!paused || heldChars > MAX_HELD_CHARS) {
        write(stream, text);
        return;
      }
      held.push({ stream, text });
      heldChars += text.length;
    },
    touch() {
      if (!live || paused || closed || refreshing) return;
      const wait = drawnAt + REFRESH_MS - clock.monotonic();
      schedule(Math.max(0, Math.min(REFRESH_MS, wait)));
    },
    pause() {
      if (paused) return;
      paused = true;
      timer?.();
      timer = undefined;
      refreshing = false;
      regionOutput.write(eraser());
    },
    resume() {
      if (!paused) return;
      paused = false;
      const waiting = held;
      held = [];
      heldChars = 0;
      for (const { stream, text } of waiting) write(stream, text);
      if (live && !closed) redraw();
    },
    close,
    size: () => sizeOf(io),
    async flush() {
      await outputs.stdout.flush();
      await outputs.stderr.flush().catch(() => undefined);
    },
  };
}
