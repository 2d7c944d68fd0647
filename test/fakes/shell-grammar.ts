import {
  MAX_SHELL_BYTES,
  MAX_SHELL_DEPTH,
  type ParsedShell,
  type ShellAssignment,
  type ShellFault,
  type ShellGrammar,
  type ShellNode,
  type ShellPart,
  type ShellRedirect,
  type ShellScript,
  type ShellStatement,
  type ShellWord,
} from '../../ports/shell-grammar.ts';

const EMPTY: ShellScript = { statements: [] };
const WORD_END = ' \t\n;&|()<>';
const OPERATORS = ['&&', '||', ';', '&', '\n', '|'];
const ENDS = new Set(['then', 'else', 'fi', 'do', 'done', '}', ')']);

/** Gives up on a source: it is not complete, or not of this small language. */
class Unreadable extends Error {
  readonly code: ShellFault['code'];

  constructor(code: ShellFault['code'], message: string) {
    super(message);
    this.code = code;
  }
}

/** A small shell grammar by recursive descent: lists, groups, `if`, `while`, `for`, functions, quotes, substitutions, here-documents. */
export function createSmallGrammar(): ShellGrammar {
  return { load: async () => parseSmall };
}

function parseSmall(source: string): ParsedShell {
  const unread = (code: ShellFault['code'], message: string): ParsedShell => ({ script: EMPTY, faults: [{ code, message }] });
  if (new TextEncoder().encode(source).length > MAX_SHELL_BYTES) return unread('limit', 'too long');
  if (/[^\P{Cc}\t\n]/u.test(source) || /\$'[^']*\\'/.test(source)) return unread('ambiguous', "control characters or $'…\\'");
  try {
    const reader = createReader(source, 0);
    const script = reader.script();
    if (!reader.atEnd()) throw new Unreadable('syntax', `unexpected ${reader.rest().slice(0, 10)}`);
    return { script, faults: [] };
  } catch (error) {
    if (error instanceof Unreadable) return unread(error.code, error.message);
    throw error;
  }
}

function createReader(source: string, depth: number) {
  let at = 0;
  const bodies: { readonly end: string; readonly quoted: boolean; fill(content: ShellWord): void }[] = [];
  if (depth > MAX_SHELL_DEPTH) throw new Unreadable('limit', 'too deep');

  const fail = (message: string): never => {
    throw new Unreadable('syntax', message);
  };
  const looksAt = (text: string): boolean => source.startsWith(text, at);
  const take = (text: string): boolean => {
    if (!looksAt(text)) return false;
    at += text.length;
    return true;
  };
  const blanks = (): void => {
    while (at < source.length && (' \t'.includes(source[at] ?? '') || looksAt('\\\n'))) at += looksAt('\\\n') ? 2 : 1;
    if (source[at] === '#') while (at < source.length && source[at] !== '\n') at += 1;
  };
  const lines = (): void => {
    for (blanks(); take('\n'); blanks()) heredocs();
  };
  const keyword = (): string => /^[a-z}!{]+(?=[\s;&|)]|$)/.exec(source.slice(at))?.[0] ?? (looksAt(')') ? ')' : '');
  const expect = (text: string): void => {
    lines();
    if (keyword() !== text) fail(`${text} is missing`);
    at += text.length;
  };

  function heredocs(): void {
    for (const { end, quoted, fill } of bodies.splice(0)) {
      const close = source.slice(at).split('\n').indexOf(end);
      if (close < 0) fail('a here-document has no end');
      const text = source
        .slice(at)
        .split('\n')
        .slice(0, close)
        .map((line) => `${line}\n`)
        .join('');
      at += text.length + end.length;
      fill({ text, parts: quoted ? [{ kind: 'text', value: text, quoted: true }] : createReader(text, depth).body() });
      if (at < source.length && !take('\n')) fail('a here-document has no end');
    }
  }

  function script(): ShellScript {
    const statements: ShellStatement[] = [];
    let when: ShellStatement['when'] = 'always';
    for (lines(); at < source.length && !ENDS.has(keyword()); lines()) {
      const node = pipeline();
      blanks();
      const operator = OPERATORS.find((each) => each !== '|' && looksAt(each)) ?? '';
      take(operator);
      if (operator === '\n') heredocs();
      statements.push({ node, when, background: operator === '&' });
      when = operator === '&&' ? 'success' : operator === '||' ? 'failure' : 'always';
      if (operator === '') break;
    }
    if (when !== 'always') fail('a command is missing');
    if (bodies.length > 0) fail('a here-document has no end');
    return { statements };
  }

  function pipeline(): ShellNode {
    blanks();
    while (keyword() === '!') {
      at += 1;
      blanks();
    }
    const members = [command()];
    for (blanks(); looksAt('|') && !looksAt('||'); blanks()) {
      at += 1;
      lines();
      members.push(command());
    }
    return members.length === 1 ? (members[0] as ShellNode) : { kind: 'pipeline', members };
  }

  const nested = (): ShellScript => {
    const inner = createReader(source.slice(at), depth + 1);
    const found = inner.script();
    at += source.length - at - inner.rest().length;
    return found;
  };
  const compound = (
    form: 'group' | 'subshell' | 'branch' | 'loop',
    parts: readonly ShellScript[],
    words: readonly ShellWord[] = [],
  ): ShellNode => ({
    kind: 'compound',
    form,
    words,
    bodies: parts,
    redirects: [],
  });

  function command(): ShellNode {
    const named = /^([A-Za-z_]\w*)\(\)\s*/.exec(source.slice(at));
    if (named) {
      at += named[0].length;
      return { kind: 'function', name: named[1] ?? '', body: command() };
    }
    if (take('(')) {
      const body = nested();
      expect(')');
      return compound('subshell', [body]);
    }
    switch (keyword()) {
      case '{': {
        at += 1;
        const body = nested();
        expect('}');
        return compound('group', [body]);
      }
      case 'if': {
        at += 2;
        const parts = [nested()];
        expect('then');
        parts.push(nested());
        lines();
        if (keyword() === 'else') {
          at += 4;
          parts.push(nested());
        }
        expect('fi');
        return compound('branch', parts);
      }
      case 'while': {
        at += 5;
        const clause = nested();
        expect('do');
        const body = nested();
        expect('done');
        return compound('loop', [clause, body]);
      }
      case 'for': {
        const head = /^for\s+(\w+)\s+in\s/.exec(source.slice(at));
        if (!head) return fail('for what?');
        at += head[0].length;
        const words: ShellWord[] = [];
        for (blanks(); at < source.length && !looksAt(';') && !looksAt('\n'); blanks()) words.push(word());
        take(';');
        expect('do');
        const body = nested();
        expect('done');
        return { kind: 'compound', form: 'loop', variable: head[1] ?? '', words, bodies: [body], redirects: [] };
      }
      default:
        return simple();
    }
  }

  function simple(): ShellNode {
    const assignments: ShellAssignment[] = [];
    const words: ShellWord[] = [];
    const redirects: ShellRedirect[] = [];
    for (blanks(); at < source.length; blanks()) {
      const assigned = words.length === 0 ? /^([A-Za-z_]\w*)(\+?)=/.exec(source.slice(at)) : null;
      if (assigned) {
        at += assigned[0].length;
        const value = at < source.length && !WORD_END.includes(source[at] ?? '') ? word() : { text: '', parts: [] };
        assignments.push({ name: assigned[1] ?? '', append: assigned[2] === '+', words: [value], index: [], list: false });
      } else if (looksAt('<') || looksAt('>')) redirects.push(redirect());
      else if (WORD_END.includes(source[at] ?? '')) break;
      else words.push(word());
    }
    if (assignments.length + words.length + redirects.length === 0) fail('a command is missing');
    return { kind: 'simple', assignments, words, redirects };
  }

  function redirect(): ShellRedirect {
    if (take('<<')) {
      blanks();
      const mark = word();
      const holder: { content: ShellWord } & { kind: 'text' } = { kind: 'text', content: { text: '', parts: [] } };
      bodies.push({
        end: mark.parts.map((part) => (part.kind === 'text' ? part.value : '')).join(''),
        quoted: mark.text.includes("'"),
        fill: (content) => {
          holder.content = content;
        },
      });
      return holder;
    }
    const access = looksAt('<') ? 'read' : 'write';
    at += looksAt('>>') ? 2 : 1;
    blanks();
    return { kind: 'file', access, target: word() };
  }

  function word(): ShellWord {
    const start = at;
    const parts: ShellPart[] = [];
    while (at < source.length && !WORD_END.includes(source[at] ?? '')) parts.push(...piece(false));
    if (at === start) fail('a word is missing');
    return { text: source.slice(start, at), parts };
  }

  function piece(quoted: boolean): readonly ShellPart[] {
    if (take('\\')) {
      const next = source[at] ?? '';
      at += 1;
      if (next === '\n') return [];
      const keeps = quoted && !'$`"\\'.includes(next);
      return [{ kind: 'text', value: keeps ? `\\${next}` : next, quoted: true }];
    }
    if (!quoted && take("'")) {
      const end = source.indexOf("'", at);
      if (end < 0) fail('a quote has no end');
      const value = source.slice(at, end);
      at = end + 1;
      return [{ kind: 'text', value, quoted: true }];
    }
    if (!quoted && take('"')) {
      const parts: ShellPart[] = [{ kind: 'text', value: '', quoted: true }];
      while (!looksAt('"')) {
        if (at >= source.length) fail('a quote has no end');
        parts.push(...piece(true));
      }
      at += 1;
      return parts;
    }
    if (take('$(')) {
      const found = nested();
      expect(')');
      return [{ kind: 'command', quoted, script: found }];
    }
    if (take('`')) {
      const end = source.indexOf('`', at);
      if (end < 0) fail('a substitution has no end');
      const inner = createReader(source.slice(at, end), depth + 1);
      const found = inner.script();
      if (!inner.atEnd()) fail('a substitution cannot be read');
      at = end + 1;
      return [{ kind: 'command', quoted, script: found }];
    }
    if (take('${')) {
      const name = /^\w*/.exec(source.slice(at))?.[0] ?? '';
      at += name.length;
      const operand = take(':-') ? [wordUntil('}')] : [];
      if (!take('}')) fail('a variable has no end');
      return [{ kind: 'variable', name, quoted, form: operand.length > 0 ? 'default' : 'plain', words: operand }];
    }
    const variable = /^\$(\w+|[@*#?$!-])/.exec(source.slice(at));
    if (variable) {
      at += variable[0].length;
      return [{ kind: 'variable', name: variable[1] ?? '', quoted, form: 'plain', words: [] }];
    }
    const value = source[at] ?? '';
    at += 1;
    return [{ kind: 'text', value, quoted }];
  }

  function wordUntil(end: string): ShellWord {
    const start = at;
    const parts: ShellPart[] = [];
    while (at < source.length && !looksAt(end)) parts.push(...piece(false));
    return { text: source.slice(start, at), parts };
  }

  function body(): readonly ShellPart[] {
    const parts: ShellPart[] = [];
    while (at < source.length) parts.push(...piece(true));
    return parts;
  }

  return {
    script,
    body,
    atEnd: (): boolean => {
      lines();
      return at >= source.length;
    },
    rest: (): string => source.slice(at),
  };
}
