import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ChatError } from '../../ports/chat.ts';
import type { ChatMedia } from '../../ports/chat-message.ts';
import type { Base } from './base.ts';

/** Files live this long. */
const KEEP_MS = 3_600_000;
const MODE = 0o600;
const HASH_DIGITS = 16;
const MAX_NAME = 200;

/** A file that came with a message is not taken; the text says why, for the person. */
export class MediaRefused extends Error {}

export const mediaFolderOf = (home: string): string => join(home, 'media');

const mediaTag = (chatId: number): string => `_chat${chatId}_`;

/** Whether a file came from the chat. People name their documents: only the beginning of a name counts. */
export const isMediaOf = (name: string, chatId: number): boolean =>
  ['voice', 'photo', 'doc'].some((kind) => name.startsWith(`${kind}${mediaTag(chatId)}`));

/** A name of ASCII letters, digits, dots, dashes and underscores, without a dot at its beginning. */
function safeName(name: string): string {
  const ascii = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9._-]+/g, '_');
  const bare = ascii.replace(/^[._]+/, '').replaceAll(/\.{2,}/g, '.');
  return bare.slice(-MAX_NAME).replace(/^[.]+/, '') || 'file';
}

/** The name that a file gets; undefined for kinds that are not taken. */
export function mediaName(chatId: number, media: ChatMedia): string | undefined {
  const digest = createHash('sha256').update(media.fileId).digest('hex').slice(0, HASH_DIGITS);
  if (media.kind === 'voice') return `voice${mediaTag(chatId)}${digest}.ogg`;
  if (media.kind === 'photo') return `photo${mediaTag(chatId)}${digest}.jpg`;
  if (media.kind === 'document') return `doc${mediaTag(chatId)}${safeName(media.name ?? digest)}`.slice(0, MAX_NAME);
  return undefined;
}

async function filesIn(folder: string): Promise<readonly { readonly name: string; readonly size: number; readonly at: number }[]> {
  const names = await readdir(folder).catch(() => []);
  const stats = await Promise.all(names.map((name) => lstat(join(folder, name)).catch(() => undefined)));
  return names.flatMap((name, index) => {
    const found = stats[index];
    return found?.isFile() ? [{ name, size: found.size, at: found.mtimeMs }] : [];
  });
}

/** Removes what is older than an hour. Never rejects. */
export async function tidyMedia(home: string, now: number): Promise<void> {
  const folder = mediaFolderOf(home);
  for (const { name, at } of await filesIn(folder)) {
    if (now - at > KEEP_MS) await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

/** Bytes that a file of this chat may have; throws {@link MediaRefused} where that is none. */
async function roomFor(base: Base, folder: string, chatId: number, replaced: string): Promise<number> {
  const { max_download_size: limit, media_quota_per_chat: quota } = base.config.telegram;
  if (limit < 0) throw new MediaRefused('Files are not taken here.');
  if (quota === 0) return limit;
  const files = await filesIn(folder);
  const used = files.filter(({ name }) => isMediaOf(name, chatId) && name !== replaced).reduce((sum, { size }) => sum + size, 0);
  if (used >= quota) throw new MediaRefused(`This chat has used up its ${quota} bytes for files; they go after an hour.`);
  return Math.min(limit, quota - used);
}

/**
 * Fetches a file of a message into the media folder. Resolves to its absolute path, or to undefined for a kind that is not
 * taken. Rejects with {@link MediaRefused}.
 */
export async function takeMedia(base: Base, chatId: number, media: ChatMedia, signal: AbortSignal): Promise<string | undefined> {
  const name = mediaName(chatId, media);
  if (name === undefined) return undefined;
  const folder = mediaFolderOf(base.config.state.home);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const limit = await roomFor(base, folder, chatId, name);
  const tooBig = `The file is too big: at most ${limit} bytes are taken.`;
  if (media.size !== undefined && media.size > limit) throw new MediaRefused(tooBig);
  const draft = join(folder, `.${randomBytes(8).toString('hex')}.part`);
  try {
    const download = await base.bot.files.download(media.fileId, limit, signal);
    const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW, MODE);
    try {
      for await (const chunk of download.bytes) await file.write(chunk);
    } finally {
      await file.close();
    }
    const path = join(folder, name);
    await rename(draft, path);
    return path;
  } catch (error) {
    await rm(draft, { force: true });
    if (error instanceof ChatError && error.code === 'chat_file_too_big') throw new MediaRefused(tooBig);
    if (error instanceof ChatError) throw new MediaRefused(`The file could not be fetched: ${error.message}`);
    throw error;
  }
}
