import { wrapText } from './cells.ts';
import { createMarkdownStream, type Lexer, type MarkdownStream } from './markdown-stream.ts';
import { createReasoningStream, type ReasoningStream } from './reasoning.ts';
import type { LiveLine, Screen } from './screen.ts';
import { type Painter, SGR } from './style.ts';

/** What scrolls by: reasoning, text and progress, each set apart from the one before by an empty line. */
export interface Scroll {
  reasoning(text: string): void;
  text(text: string, lexer: Lexer): void;
  /** Finished lines on stderr. `apart`: set apart also from other progress. */
  progress(lines: readonly string[], apart?: boolean): void;
  /** Finishes what is being streamed. */
  end(): void;
  /** Whether reasoning is what came last. */
  isReasoning(): boolean;
  /** The unfinished rest of what is being streamed, wrapped for the region below the output. */
  tail(size: { readonly columns: number; readonly rows: number }): LiveLine[];
}

export interface ScrollOptions {
  readonly screen: Screen;
  readonly out: Painter;
  readonly err: Painter;
}

/** Of an unfinished block, what can be on the screen at all. */
const TAIL_CHARS_PER_CELL = 2;

export function createScroll({ screen, out, err }: ScrollOptions): Scroll {
  let stage: 'nothing' | 'reasoning' | 'text' | 'progress' = 'nothing';
  let thinking: ReasoningStream | undefined;
  let writing: MarkdownStream | undefined;

  const width = (): number => screen.size().columns;
  const dim = (lines: readonly string[]): string[] => lines.map((line) => err.paint(SGR.dim, line));
  // The empty line goes where the text before it went, so that a stdout without its stderr reads well.
  const gap = (): void => screen.commit(stage === 'text' ? 'stdout' : 'stderr', ['']);

  const end = (): void => {
    const thought = thinking;
    const written = writing;
    thinking = undefined;
    writing = undefined;
    if (thought !== undefined) screen.commit('stderr', dim(thought.end(width())));
    if (written !== undefined) screen.commit('stdout', written.end());
  };

  return {
    reasoning(text) {
      if (thinking === undefined) {
        end();
        if (stage === 'text') gap();
        thinking = createReasoningStream();
        stage = 'reasoning';
      }
      screen.commit('stderr', dim(thinking.push(text, width())));
    },
    text(text, lexer) {
      if (writing === undefined) {
        if (text.trim() === '') return;
        end();
        if (stage !== 'nothing') gap();
        writing = createMarkdownStream(lexer, () => ({ width: width(), painter: out }));
        stage = 'text';
      }
      screen.commit('stdout', writing.push(text));
    },
    progress(lines, apart = false) {
      if (lines.length === 0) return;
      end();
      if (stage !== 'nothing' && (apart || stage !== 'progress')) screen.commit('stderr', ['']);
      stage = 'progress';
      screen.commit('stderr', lines);
    },
    end,
    isReasoning: () => stage === 'reasoning',
    tail({ columns, rows }) {
      const source = thinking?.tail() ?? writing?.tail() ?? '';
      if (source === '') return [];
      const paint = thinking === undefined ? (line: string): string => line : (line: string): string => err.paint(SGR.dim, line);
      return wrapText(source.slice(-(columns * rows * TAIL_CHARS_PER_CELL)), columns - 1).map((text) => ({ text, paint }));
    },
  };
}
