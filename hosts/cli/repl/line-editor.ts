import { emitKeypressEvents } from 'node:readline';
import type { Clock } from '../../../ports/clock.ts';
import { cellWidth } from '../render/cells.ts';
import { outputOf } from '../render/output.ts';
import { continued, isIncomplete } from './continuation.ts';
import { EDITS, type EditBuffer, EMPTY, insert, MAX_INPUT_CHARS, moveLine } from './edit-buffer.ts';
import type { History } from './history.ts';
import { type Command, commandOf, editOf, type Key, typedText } from './keys.ts';
import { type Layout, layOut } from './layout.ts';

export interface LineEditorOptions {
  readonly input: NodeJS.ReadableStream & { setRawMode?(raw: boolean): unknown };
  readonly output: NodeJS.WritableStream & { readonly columns?: number; readonly rows?: number };
  readonly history: History;
  readonly clock: Clock;
  readonly prompt: string;
}

/** Reads one input from a terminal, with editing. `undefined`: the person wants to leave. */
export interface LineEditor {
  read(signal?: AbortSignal): Promise<string | undefined>;
  /** Puts lines above what is being typed; false while nothing is. */
  tell(lines: readonly string[]): boolean;
  close(): void;
}

const PASTE_ON = '\u001b[?2004h';
const PASTE_OFF = '\u001b[?2004l';
const CONTINUATION = '… ';
/** Milliseconds within which a second Ctrl-C on an empty line leaves. */
const LEAVE_MS = 3_000;
/** Keys that came in one piece with the end of an input and belong to the next. */
const MAX_EARLY_KEYS = 65_536;

type Pressed = readonly [text: string | undefined, key: Key];

export function createLineEditor({ input, output: stream, history, clock, prompt }: LineEditorOptions): LineEditor {
  const output = outputOf(stream);
  let buffer: EditBuffer = EMPTY;
  let drawn: Layout | undefined;
  let paste: string[] | undefined;
  let pasteEndedWithReturn = false;
  let recalled: number | undefined;
  let draft = '';
  let emptyInterruptAt = Number.NEGATIVE_INFINITY;
  let settle: ((text: string | undefined) => void) | undefined;
  let early: Pressed[] = [];
  let takesEarly = false;
  let drawing = false;

  const columns = (): number => Math.max(20, stream.columns || 80);

  /** From where the cursor is to the start of what was drawn; a narrower terminal has wrapped it. */
  const toStart = (): string => {
    if (drawn === undefined) return '\r';
    const wide = columns();
    const above = drawn.rows.slice(0, drawn.cursorRow).reduce((sum, row) => sum + Math.max(1, Math.ceil(cellWidth(row) / wide)), 0);
    const up = above + Math.floor(drawn.cursorColumn / wide);
    return `\r${up > 0 ? `\u001b[${up}A` : ''}`;
  };

  const draw = (): void => {
    drawing = false;
    if (settle === undefined) return;
    const start = toStart();
    const layout = layOut(buffer, {
      columns: columns(),
      maxRows: Math.max(2, (stream.rows || 24) - 1),
      prompt,
      continuation: CONTINUATION,
    });
    const up = layout.rows.length - 1 - layout.cursorRow;
    const back = `${up > 0 ? `\u001b[${up}A` : ''}\r${layout.cursorColumn > 0 ? `\u001b[${layout.cursorColumn}C` : ''}`;
    output.write(`${start}\u001b[J${layout.rows.join('\r\n')}${back}`);
    drawn = layout;
  };

  const tell = (lines: readonly string[]): boolean => {
    if (settle === undefined) return false;
    output.write(`${toStart()}\u001b[J${lines.map((line) => `${line}\r\n`).join('')}`);
    drawn = undefined;
    draw();
    return true;
  };

  /** Once for all keys of a chunk: a paste of 100 kB is one redraw. */
  const drawSoon = (): void => {
    if (drawing) return;
    drawing = true;
    queueMicrotask(draw);
  };

  const leaveLine = (note: string): void => {
    buffer = { ...buffer, cursor: buffer.text.length };
    draw();
    output.write(`${note}\r\n`);
    drawn = undefined;
  };

  const finish = (text: string | undefined): void => {
    leaveLine('');
    const done = settle;
    settle = undefined;
    takesEarly = true;
    queueMicrotask(() => {
      takesEarly = false;
    });
    output.write(PASTE_OFF);
    input.setRawMode?.(false);
    input.pause();
    done?.(text);
  };

  const submit = (): void => {
    if (isIncomplete(buffer.text)) {
      const text = continued(buffer.text);
      buffer = { text, cursor: text.length };
      return;
    }
    void history.add(buffer.text);
    finish(buffer.text);
  };

  const interrupt = (): void => {
    const now = clock.monotonic();
    const empty = buffer.text === '';
    if (empty && now - emptyInterruptAt <= LEAVE_MS) {
      finish(undefined);
      return;
    }
    leaveLine(empty ? '(Ctrl-C again or Ctrl-D leaves)' : '^C');
    emptyInterruptAt = empty ? now : Number.NEGATIVE_INFINITY;
    buffer = EMPTY;
    recalled = undefined;
  };

  const recall = (direction: -1 | 1): void => {
    const moved = moveLine(buffer, direction);
    if (moved !== undefined) {
      buffer = moved;
      return;
    }
    const entries = history.entries();
    const from = recalled ?? entries.length;
    const next = from + direction;
    if (next < 0 || next > entries.length || (recalled === undefined && direction === 1)) return;
    if (recalled === undefined) draft = buffer.text;
    recalled = next === entries.length ? undefined : next;
    const text = recalled === undefined ? draft : (entries[recalled] ?? '');
    buffer = { text, cursor: text.length };
  };

  const endOfInput = (): void => {
    if (buffer.text === '') finish(undefined);
    else buffer = EDITS.delete(buffer);
  };

  const act: Readonly<Record<Command, () => void>> = {
    submit,
    newline: () => {
      buffer = insert(buffer, '\n');
    },
    interrupt,
    end: endOfInput,
    up: () => recall(-1),
    down: () => recall(1),
    redraw: () => {
      output.write('\u001b[2J\u001b[H');
      drawn = undefined;
    },
    paste_start: () => {
      paste = [];
    },
    paste_end: () => undefined,
    none: () => undefined,
  };

  const pasteKey = (pasted: string[], text: string | undefined, key: Key): void => {
    if (commandOf(key) === 'paste_end') {
      buffer = insert(buffer, pasted.join(''));
      paste = undefined;
    } else if (key.name === 'return' || key.name === 'enter') {
      // A CRLF is one newline.
      if (!(key.name === 'enter' && pasteEndedWithReturn)) pasted.push('\n');
    } else if (pasted.length < MAX_INPUT_CHARS) {
      pasted.push(typedText(text, key));
    }
    pasteEndedWithReturn = key.name === 'return';
  };

  const press = (text: string | undefined, key: Key): void => {
    if (paste !== undefined) {
      pasteKey(paste, text, key);
      drawSoon();
      return;
    }
    const command = commandOf(key);
    if (command !== 'interrupt') emptyInterruptAt = Number.NEGATIVE_INFINITY;
    if (command !== 'none') {
      act[command]();
    } else {
      const edit = editOf(key);
      buffer = edit === undefined ? insert(buffer, typedText(text, key)) : EDITS[edit](buffer);
    }
    drawSoon();
  };

  const onKeypress = (text: string | undefined, key: Key): void => {
    if (settle !== undefined) press(text, key);
    else if (takesEarly && early.length < MAX_EARLY_KEYS) early.push([text, key]);
  };

  const onInputEnd = (): void => {
    if (settle !== undefined) finish(undefined);
  };

  const onResize = (): void => {
    if (settle !== undefined) draw();
  };

  emitKeypressEvents(input);
  input.on('keypress', onKeypress);
  input.on('end', onInputEnd);
  stream.on('resize', onResize);

  const begin = (): void => {
    buffer = EMPTY;
    drawn = undefined;
    recalled = undefined;
    input.setRawMode?.(true);
    input.resume();
    output.write(PASTE_ON);
    drawSoon();
    const waiting = early;
    early = [];
    for (const [index, [text, key]] of waiting.entries()) {
      if (settle === undefined) {
        early = waiting.slice(index);
        break;
      }
      press(text, key);
    }
  };

  return {
    read(signal) {
      return new Promise((resolve) => {
        const onAbort = (): void => finish(undefined);
        settle = (text) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(text);
        };
        signal?.addEventListener('abort', onAbort, { once: true });
        if (signal?.aborted) finish(undefined);
        else begin();
      });
    },
    tell,
    close() {
      if (settle !== undefined) finish(undefined);
      input.removeListener('keypress', onKeypress);
      input.removeListener('end', onInputEnd);
      stream.removeListener('resize', onResize);
      input.pause();
    },
  };
}
