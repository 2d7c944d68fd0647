const SEPARATORS = ' \t\n;{}';
const PLAIN_COMMANDS = 'pdqDGgHhNnPxl=';

/** Whether a script of sed only selects, deletes and replaces: no `w`, `e`, `r` and no flags that run or write. One pass. */
export function isPlainSed(script: string): boolean {
  let at = 0;
  while (at < script.length) {
    at = skip(script, at, SEPARATORS);
    if (at >= script.length) return true;
    const command = afterAddresses(script, at);
    if (command === undefined) return false;
    const end = afterCommand(script, command);
    if (end === undefined || (end < script.length && !SEPARATORS.includes(script[end] ?? ''))) return false;
    at = end;
  }
  return true;
}

function skip(text: string, from: number, characters: string): number {
  let at = from;
  while (at < text.length && characters.includes(text[at] ?? '')) at += 1;
  return at;
}

/** Where the command begins, after `1,$!` and the like. */
function afterAddresses(script: string, from: number): number | undefined {
  let at = afterAddress(script, from);
  if (at === undefined) return undefined;
  at = skip(script, at, ' \t');
  if (script[at] === ',') {
    at = afterAddress(script, skip(script, at + 1, ' \t+~'));
    if (at === undefined) return undefined;
  }
  return skip(script, at, ' \t!');
}

function afterAddress(script: string, from: number): number | undefined {
  if (script[from] === '$') return from + 1;
  if (script[from] !== '/') return skip(script, from, '0123456789~');
  const end = afterSection(script, from + 1, '/');
  return end === undefined ? undefined : skip(script, end, 'I');
}

function afterCommand(script: string, at: number): number | undefined {
  const command = script[at] ?? '';
  if (command === '' || SEPARATORS.includes(command)) return at;
  if (PLAIN_COMMANDS.includes(command)) return skip(script, at + 1, '0123456789');
  if (command !== 's' && command !== 'y') return undefined;
  const delimiter = script[at + 1] ?? '';
  if (delimiter === '' || /[\s\\\w]/.test(delimiter)) return undefined;
  const middle = afterSection(script, at + 2, delimiter);
  const end = middle === undefined ? undefined : afterSection(script, middle, delimiter);
  return end === undefined || command === 'y' ? end : skip(script, end, 'gpiI0123456789');
}

/** Behind the next delimiter that no backslash stands before. */
function afterSection(script: string, from: number, delimiter: string): number | undefined {
  for (let at = from; at < script.length; at += 1) {
    if (script[at] === '\\') at += 1;
    else if (script[at] === delimiter) return at + 1;
  }
  return undefined;
}
