import { MAX_SHELL_DEPTH, type ShellFault } from '../../ports/shell-grammar.ts';

const MAX_FAULTS = 20;
/** Nodes of one tree. A source of the longest length stays below, unless it is made to be expensive. */
const MAX_NODES = 50_000;

/** What is wrong with a source, gathered while its tree is read; also the bounds of that reading. */
export interface Faults {
  readonly found: readonly ShellFault[];
  add(code: ShellFault['code'], message: string): void;
  /** Reads one more part; `fallback` when there are too many. */
  within<Read>(read: () => Read, fallback: Read): Read;
  /** Reads the commands inside of a command; `fallback` when that is too deep or too much. */
  level<Read>(read: () => Read, fallback: Read): Read;
}

export function createFaults(): Faults {
  const found: ShellFault[] = [];
  let depth = 0;
  let nodes = 0;
  const add: Faults['add'] = (code, message) => {
    if (found.length < MAX_FAULTS && !found.some((fault) => fault.message === message)) found.push({ code, message });
  };
  const within: Faults['within'] = (read, fallback) => {
    nodes += 1;
    if (nodes <= MAX_NODES) return read();
    add('limit', `it has more than ${MAX_NODES} parts`);
    return fallback;
  };
  const level: Faults['level'] = (read, fallback) => {
    if (depth >= MAX_SHELL_DEPTH) {
      add('limit', `it is nested deeper than ${MAX_SHELL_DEPTH} levels`);
      return fallback;
    }
    depth += 1;
    try {
      return within(read, fallback);
    } finally {
      depth -= 1;
    }
  };
  return { found, add, within, level };
}
