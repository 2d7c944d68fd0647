import { createContext, Script } from 'node:vm';

/** Most milliseconds that all patterns of one check may take together. A pattern that is not done by then counts as not matching. */
const PATTERN_TIME_MS = 250;
/** Steps that a simple pattern may need at worst and still run without a watchdog. */
const DIRECT_STEPS = 10_000_000;

interface Shape {
  /** Quantifiers that can match different lengths. */
  readonly variable: number;
  /** A group repeated as a whole or a back-reference: the number of steps has no simple bound. */
  readonly nested: boolean;
}

const TOKEN = /\\[1-9k]|\\.|\[(?:\\.|[^\]\\])*\]|\)(?:[*+]|\{\d+(?:,\d*)?\})|[*+]|\{\d+,\d*\}|\?/gs;

function shapeOf(pattern: string): Shape {
  let variable = 0;
  let nested = false;
  for (const [token] of pattern.matchAll(TOKEN)) {
    if (token.startsWith('[')) continue;
    if (token.startsWith(')') || /^\\[1-9k]/.test(token)) nested = true;
    else if (!token.startsWith('\\')) variable += token === '?' ? 0.5 : 1;
  }
  return { variable, nested };
}

function compile(pattern: string, flags: string): RegExp {
  try {
    return new RegExp(pattern, flags);
  } catch (error) {
    // Many schemas escape characters that the unicode mode does not allow to be escaped.
    if (flags === '') throw error;
    return new RegExp(pattern);
  }
}

interface Watchdog {
  /** Gives all patterns until further notice a fresh {@link PATTERN_TIME_MS}. */
  restart(): void;
  test(pattern: RegExp, text: string): boolean;
}

/** Runs a pattern under V8's own time limit, which also ends catastrophic backtracking. */
function createWatchdog(): Watchdog {
  const script = new Script('pattern.test(text)');
  const scope: { pattern?: RegExp; text?: string } = createContext(Object.create(null));
  let left = PATTERN_TIME_MS;
  return {
    restart() {
      left = PATTERN_TIME_MS;
    },
    test(pattern, text) {
      if (left < 1) return false;
      const start = performance.now();
      scope.pattern = pattern;
      scope.text = text;
      try {
        return script.runInContext(scope, { timeout: Math.ceil(left) }) === true;
      } catch {
        return false;
      } finally {
        left -= performance.now() - start;
        delete scope.text;
      }
    },
  };
}

/** The regular expressions of schemas from strangers: any pattern, any text, bounded time. In the form that ajv's `code.regExp` takes. */
export function createPatternEngine() {
  let watchdog: Watchdog | undefined;
  const engine = (pattern: string, flags: string) => {
    const compiled = compile(pattern, flags);
    const { variable, nested } = shapeOf(pattern);
    return {
      toString: () => compiled.toString(),
      test(text: string): boolean {
        if (!nested && (text.length + 1) ** (variable + 1) <= DIRECT_STEPS) return compiled.test(text);
        watchdog ??= createWatchdog();
        return watchdog.test(compiled, text);
      },
    };
  };
  engine.code = 'boundedPattern';
  return { engine, restart: () => watchdog?.restart() };
}
