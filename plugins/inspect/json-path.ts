/** One step into a document: a member's name or an element's index. */
export type JsonStep = string | number;

const MAX_STEPS = 256;
const INDEX = /^\[\s*(-?\d{1,15})\s*\]/;
const QUOTED = /^\[\s*("(?:[^"\\]|\\.)*")\s*\]/;
const NAME = /^[^.[\]]+/;

/** The steps of `a.b[0]["c.d"]`, with or without `$` in front; a text that says what is wrong with it. */
export function parseJsonPath(query: string): readonly JsonStep[] | string {
  const steps: JsonStep[] = [];
  let rest = query.trim().replace(/^\$/, '');
  while (rest !== '') {
    if (steps.length === MAX_STEPS) return `query has more than ${MAX_STEPS} steps`;
    const dot = rest.startsWith('.') && !rest.startsWith('.[');
    const part = dot ? rest.slice(1) : rest.replace(/^\.\[/, '[');
    const step = dot || steps.length === 0 ? (nameAt(part) ?? (dot ? undefined : bracketAt(part))) : bracketAt(part);
    if (step === undefined) return `query cannot be read at ${JSON.stringify(rest.slice(0, 40))}; write a.b[0] or a["b.c"]`;
    steps.push(step.value);
    rest = part.slice(step.length);
  }
  return steps;
}

interface Found {
  readonly value: JsonStep;
  readonly length: number;
}

function nameAt(text: string): Found | undefined {
  const name = NAME.exec(text)?.[0];
  return name === undefined ? undefined : { value: name, length: name.length };
}

function bracketAt(text: string): Found | undefined {
  const index = INDEX.exec(text);
  if (index) return { value: Number(index[1]), length: index[0].length };
  const quoted = QUOTED.exec(text);
  const name = quoted?.[1] === undefined ? undefined : unquoted(quoted[1]);
  return quoted && name !== undefined ? { value: name, length: quoted[0].length } : undefined;
}

function unquoted(text: string): string | undefined {
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}

/** A path as a query writes it. */
export function writeJsonPath(steps: readonly JsonStep[]): string {
  const text = steps
    .map((step) => (typeof step === 'number' ? `[${step}]` : /^[\w-]+$/.test(step) ? `.${step}` : `[${JSON.stringify(step)}]`))
    .join('');
  return `$${text}`;
}
