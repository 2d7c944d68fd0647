import { badRequest } from './faults.ts';
import { MarkupFault, parseMarkdownV2, type WireEntity } from './markdown-v2.ts';
import type { Params, UploadedFile } from './request.ts';

/** A message that is in a chat, as the service keeps it. */
export interface StoredMessage {
  readonly id: number;
  readonly chatId: number;
  readonly topicId?: number;
  /** Text or caption. */
  text: string;
  entities: readonly WireEntity[];
  keyboard?: Params;
  readonly file?: { readonly kind: string; readonly name: string; readonly bytes: Buffer };
  readonly replyTo?: number;
  deleted: boolean;
  /** How often it was edited. */
  edits: number;
}

export interface Room {
  readonly chatId: number;
  readonly messages: StoredMessage[];
}

const MAX_TEXT = 4096;
const MAX_CAPTION = 1024;
const MAX_ENTITIES = 100;
const MAX_CALLBACK_BYTES = 64;

function checkEntities(text: string, entities: readonly WireEntity[]): void {
  for (const { offset, length } of entities) {
    if (offset < 0 || length < 0 || offset + length > text.length) {
      throw badRequest(`entity beginning at UTF-16 offset ${offset} ends after the end of the text at UTF-16 offset ${offset + length}`);
    }
    for (const edge of [offset, offset + length]) {
      const inside = edge > 0 && edge < text.length && /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(edge - 1, edge + 1));
      if (inside) throw badRequest(`entity begins or ends in a middle of a UTF-16 symbol at UTF-16 offset ${edge}`);
    }
  }
}

/** Text and entities as a reader sees them. */
export function readText(params: Params, field: 'text' | 'caption'): { text: string; entities: readonly WireEntity[] } {
  const source: unknown = params[field] ?? '';
  if (typeof source !== 'string') throw badRequest(`field "${field}" must be of type String`);
  if (!source.isWellFormed()) throw badRequest('strings must be encoded in UTF-8');
  const limit = field === 'text' ? MAX_TEXT : MAX_CAPTION;
  let read: { text: string; entities: readonly WireEntity[] };
  if (params.parse_mode === undefined) {
    const given = (params[field === 'text' ? 'entities' : 'caption_entities'] ?? []) as readonly WireEntity[];
    read = { text: source, entities: given.slice(0, MAX_ENTITIES) };
    checkEntities(source, given);
  } else if (params.parse_mode === 'MarkdownV2') {
    try {
      read = parseMarkdownV2(source);
    } catch (error) {
      if (error instanceof MarkupFault) throw badRequest(`can't parse entities: ${error.message}`);
      throw error;
    }
  } else throw badRequest('unsupported parse_mode');
  if (field === 'text' && read.text.trim() === '') throw badRequest('message text is empty');
  if (read.text.length > limit) throw badRequest(field === 'text' ? 'message is too long' : 'message caption is too long');
  return read;
}

export function checkKeyboard(markup: Params | undefined): void {
  if (markup?.inline_keyboard === undefined) return;
  for (const button of (markup.inline_keyboard as Params[][]).flat()) {
    if (typeof button.text !== 'string' || button.text === '') throw badRequest('inline keyboard button text must be non-empty');
    if (button.url !== undefined) continue;
    const bytes = Buffer.byteLength(String(button.callback_data ?? ''));
    if (bytes < 1 || bytes > MAX_CALLBACK_BYTES) throw badRequest('BUTTON_DATA_INVALID');
  }
}

export function findMessage(room: Room | undefined, id: unknown, purpose: 'edit' | 'delete'): StoredMessage {
  const found = room?.messages.find((each) => each.id === id && !each.deleted);
  if (found === undefined) throw badRequest(`message to ${purpose} not found`);
  return found;
}

/** Only the newest state counts: the same text, entities and keyboard again are refused. */
export function editMessage(message: StoredMessage, params: Params): void {
  const { text, entities } = readText(params, 'text');
  checkKeyboard(params.reply_markup as Params | undefined);
  const state = (of: { text: string; entities: unknown; keyboard: unknown }): string => JSON.stringify([of.text, of.entities, of.keyboard]);
  const keyboard = params.reply_markup as Params | undefined;
  if (state({ text, entities, keyboard }) === state({ text: message.text, entities: message.entities, keyboard: message.keyboard })) {
    throw badRequest(
      'message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message',
    );
  }
  message.text = text;
  message.entities = entities;
  if (keyboard === undefined) delete message.keyboard;
  else message.keyboard = keyboard;
  message.edits += 1;
}

/** The uploaded file that a field names as `attach://<part>`. */
export function attached(params: Params, kind: string, files: readonly UploadedFile[]): UploadedFile {
  const name = String(params[kind] ?? '').replace('attach://', '');
  const found = files.find((each) => each.field === name || each.field === kind);
  if (found === undefined) throw badRequest(`there is no ${kind} in the request`);
  if (found.bytes.length === 0) throw badRequest('file must be non-empty');
  return found;
}
