import { basename } from 'node:path';
import type { OutgoingMessage } from '../../plugins/send-message/index.ts';
import type { ChatButton } from '../../ports/chat-message.ts';
import type { RoomEdges } from './agents.ts';
import { type Base, messageOf } from './base.ts';
import { type FileWish, mayUpload, mediaLines, readUpload, UploadRefused } from './media-out.ts';
import { type Place, sessionIdOf } from './rooms.ts';

const RESERVED = ['apr:', 'den:', 'trs:', 'clarify:', 'skill_save:', 'skill_skip:'];
const MAX_DATA_BYTES = 64;
const MAX_CAPTION = 1_000;
/** Buttons in a row. */
const WIDTH = 2;

/** What a button that a model made sends back. */
export const BUTTON_PREFIX = 'cb:';

/** Asks about a file and sends it. Rejects with {@link UploadRefused}. */
async function sendFile(
  base: Base,
  place: Place,
  wish: FileWish,
  { approver }: Pick<RoomEdges, 'approver'>,
  signal: AbortSignal,
  caption?: string,
): Promise<void> {
  const upload = await readUpload(base, place, wish);
  if (!(await mayUpload(base, approver, sessionIdOf(place), upload, wish.path, signal))) {
    throw new UploadRefused(`${wish.path} is not sent: nobody agreed to it`);
  }
  // The file may have been exchanged while somebody thought about it; what was shown is what was read.
  await base.bot.files.upload(place, { ...upload, ...(caption !== undefined && { caption }) }, signal);
}

/** Says an answer; lines at its beginning that name files send these first, each asked about. */
export async function sayAnswer(base: Base, place: Place, answer: string, edges: RoomEdges, signal: AbortSignal): Promise<void> {
  const { files, text } = mediaLines(answer);
  for (const wish of files) {
    try {
      await sendFile(base, place, wish, edges, signal);
    } catch (error) {
      if (signal.aborted) return;
      const why = error instanceof UploadRefused ? error.message : `${basename(wish.path)} could not be sent: ${messageOf(error)}`;
      await base.talk.say(place, `📎 ${base.mask(why)}`);
    }
  }
  if (text.trim() !== '') await base.talk.say(place, text);
}

function keyboardOf(buttons: OutgoingMessage['buttons']): readonly (readonly ChatButton[])[] | undefined {
  if (buttons === undefined || buttons.length === 0) return undefined;
  for (const { data } of buttons) {
    const isOwn = RESERVED.some((prefix) => data.startsWith(prefix));
    if (isOwn || !data.startsWith(BUTTON_PREFIX) || Buffer.byteLength(data) > MAX_DATA_BYTES) {
      throw new Error(
        `a button with the data ${JSON.stringify(data)} is refused: it must begin with "cb:" and have at most ${MAX_DATA_BYTES} bytes`,
      );
    }
  }
  return Array.from({ length: Math.ceil(buttons.length / WIDTH) }, (_, row) => buttons.slice(row * WIDTH, (row + 1) * WIDTH));
}

/** What `send_message` does in a place. */
export function senderFor(base: Base, place: Place, edges: () => RoomEdges): RoomEdges['send'] {
  return async ({ text, file, buttons }, signal) => {
    const keyboard = keyboardOf(buttons);
    const shown = text === undefined ? undefined : base.mask(text);
    if (file !== undefined) {
      const caption = shown !== undefined && shown.length <= MAX_CAPTION && keyboard === undefined ? shown : undefined;
      await sendFile(base, place, { kind: kindOf(file), path: file }, edges(), signal, caption);
      if (caption !== undefined || shown === undefined) return 'sent';
    }
    await base.talk.say(place, shown ?? '', { ...(keyboard && { keyboard }) });
    return 'sent';
  };
}

function kindOf(path: string): FileWish['kind'] {
  if (/\.(jpe?g|png|webp)$/i.test(path)) return 'photo';
  return /\.(ogg|oga|opus)$/i.test(path) ? 'voice' : 'document';
}
