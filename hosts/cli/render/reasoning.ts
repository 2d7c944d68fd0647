import { wrapText } from './cells.ts';
import { sanitise } from './sanitise.ts';

/** Reasoning as it arrives: whole lines are given out, the unfinished one stays in `tail`. */
export interface ReasoningStream {
  push(text: string, width: number): string[];
  end(width: number): string[];
  tail(): string;
}

/** Reasoning without a newline is cut here, so that the unfinished line stays bounded. */
const MAX_LINE_CHARS = 8_192;

const CUE = '🧠 ';

/** One cue before the first line, none after. Blank lines at the start are dropped. */
export function createReasoningStream(): ReasoningStream {
  let partial = '';
  let started = false;

  const lineOut = (line: string, width: number): string[] => {
    if (!started && line.trim() === '') return [];
    const text = started ? line : `${CUE}${line.trimStart()}`;
    started = true;
    return wrapText(text, width);
  };

  return {
    push(text, width) {
      const lines = (partial + sanitise(text)).split('\n');
      partial = lines.pop() ?? '';
      const out = lines.flatMap((line) => lineOut(line, width));
      if (partial.length <= MAX_LINE_CHARS) return out;
      const rest = partial;
      partial = '';
      return [...out, ...lineOut(rest, width)];
    },
    end(width) {
      const rest = partial;
      partial = '';
      return rest.trim() === '' ? [] : lineOut(rest, width);
    },
    tail: () => (partial === '' ? '' : started ? partial : `${CUE}${partial.trimStart()}`),
  };
}
