import { displayText } from '../approvals/display.ts';

export type DiagnosticLevel = 'debug' | 'info' | 'warning' | 'error';

export interface Diagnostic {
  /** Milliseconds since 1970. */
  readonly at: number;
  readonly level: DiagnosticLevel;
  /** Name of the plugin it is about, where that is known. */
  readonly plugin?: string;
  /** Safe to show, at most 1,000 characters. */
  readonly text: string;
}

/** The last 64 things that are worth knowing. */
export interface DiagnosticRing {
  add(level: DiagnosticLevel, text: string, plugin?: string): void;
  /** Oldest first. With a name: those about this plugin, the last 20. */
  list(plugin?: string): readonly Diagnostic[];
}

const KEPT = 64;
const KEPT_OF_ONE = 20;
const MAX_CHARS = 1000;

export function createDiagnostics(now: () => number): DiagnosticRing {
  const kept: Diagnostic[] = [];
  return {
    add(level, text, plugin) {
      kept.push({ at: now(), level, text: displayText(text, MAX_CHARS), ...(plugin !== undefined && { plugin }) });
      if (kept.length > KEPT) kept.shift();
    },
    list: (plugin) => (plugin === undefined ? [...kept] : kept.filter((each) => each.plugin === plugin).slice(-KEPT_OF_ONE)),
  };
}
