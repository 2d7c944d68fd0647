import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const MAX_CHARS = 65_536;
const KEPT = ['name', 'email'];

/** A git configuration with the user's name and address and nothing else of theirs; empty where git has none. */
export function gitIdentity(home: string): string {
  const user = new Map<string, string>();
  for (const file of [join(home, '.config', 'git', 'config'), join(home, '.gitconfig')]) {
    for (const [name, value] of userSection(textOf(file))) user.set(name, value);
  }
  if (user.size === 0) return '';
  return ['[user]', ...[...user].map(([name, value]) => `\t${name} = ${JSON.stringify(value)}`), ''].join('\n');
}

function userSection(text: string): (readonly [string, string])[] {
  let inside = false;
  const found: (readonly [string, string])[] = [];
  for (const line of text.split('\n')) {
    const section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line);
    if (section !== null) inside = section[1]?.toLowerCase() === 'user';
    const entry = inside ? /^\s*([A-Za-z]+)\s*=\s*("?)([^"#;\n]*?)\2\s*$/.exec(line) : null;
    const name = entry?.[1]?.toLowerCase() ?? '';
    if (entry !== null && KEPT.includes(name)) found.push([name, entry[3] ?? '']);
  }
  return found;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').slice(0, MAX_CHARS);
  } catch {
    return '';
  }
}
