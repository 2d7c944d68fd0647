import type { EditName } from './edit-buffer.ts';

/** A key as `node:readline`'s `emitKeypressEvents` tells it. */
export interface Key {
  readonly name?: string | undefined;
  readonly sequence?: string | undefined;
  readonly ctrl?: boolean | undefined;
  readonly meta?: boolean | undefined;
  readonly shift?: boolean | undefined;
}

/** What a key does beside editing. */
export type Command = 'submit' | 'newline' | 'interrupt' | 'end' | 'up' | 'down' | 'redraw' | 'paste_start' | 'paste_end' | 'none';

const EDIT_KEYS: Readonly<Record<string, EditName>> = {
  left: 'left',
  right: 'right',
  home: 'lineStart',
  end: 'lineEnd',
  backspace: 'backspace',
  delete: 'delete',
  'ctrl+a': 'lineStart',
  'ctrl+e': 'lineEnd',
  'ctrl+b': 'left',
  'ctrl+f': 'right',
  'ctrl+h': 'backspace',
  'ctrl+u': 'killToStart',
  'ctrl+k': 'killToEnd',
  'ctrl+w': 'wordBackspace',
  'ctrl+left': 'wordLeft',
  'ctrl+right': 'wordRight',
  'meta+b': 'wordLeft',
  'meta+f': 'wordRight',
  'meta+d': 'wordDelete',
  'meta+left': 'wordLeft',
  'meta+right': 'wordRight',
  'meta+backspace': 'wordBackspace',
  'ctrl+backspace': 'wordBackspace',
};

const COMMAND_KEYS: Readonly<Record<string, Command>> = {
  return: 'submit',
  enter: 'submit',
  'meta+return': 'newline',
  'meta+enter': 'newline',
  'ctrl+c': 'interrupt',
  'ctrl+d': 'end',
  up: 'up',
  down: 'down',
  'ctrl+p': 'up',
  'ctrl+n': 'down',
  'ctrl+l': 'redraw',
  'paste-start': 'paste_start',
  'paste-end': 'paste_end',
};

function keyName({ name, ctrl, meta }: Key): string {
  return `${ctrl ? 'ctrl+' : ''}${meta ? 'meta+' : ''}${name ?? ''}`;
}

export function editOf(key: Key): EditName | undefined {
  const name = keyName(key);
  return Object.hasOwn(EDIT_KEYS, name) ? EDIT_KEYS[name] : undefined;
}

export function commandOf(key: Key): Command {
  const name = keyName(key);
  return Object.hasOwn(COMMAND_KEYS, name) ? (COMMAND_KEYS[name] ?? 'none') : 'none';
}

/** The text a key types, or nothing for a key that does something else. */
export function typedText(text: string | undefined, key: Key): string {
  if (text === undefined || key.ctrl || key.meta) return '';
  if (key.name === 'tab') return '\t';
  return /^\p{Cc}/u.test(text) ? '' : text;
}
