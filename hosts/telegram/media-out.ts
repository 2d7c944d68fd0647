import { constants } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { basename, isAbsolute, join, relative, resolve } from 'node:path';
import { isCredential } from '../../core/danger/sensitive.ts';
import type { Approver } from '../../ports/approval.ts';
import { CHAT_LIMITS, type ChatUpload } from '../../ports/chat.ts';
import { isInside } from '../schedule/deliver/file.ts';
import type { Base } from './base.ts';
import { isMediaOf, mediaFolderOf } from './media-in.ts';
import type { Place } from './rooms.ts';

/** A file that may not be sent; the text names it and why. */
export class UploadRefused extends Error {}

export interface FileWish {
  readonly kind: ChatUpload['kind'];
  readonly path: string;
}

const LINE = /^MEDIA:([a-z]+):(\/[^\r\n]*)$/;
const MAX_FILES = 10;

/** The lines at the beginning of a text that name files to send, and the text without them. An unknown kind is a document. */
export function mediaLines(text: string): { readonly files: readonly FileWish[]; readonly text: string } {
  const lines = text.trimStart().split('\n');
  const files: FileWish[] = [];
  for (const line of lines) {
    const found = LINE.exec(line.trim());
    if (found === null || files.length === MAX_FILES) break;
    files.push({ kind: found[1] === 'photo' || found[1] === 'voice' ? found[1] : 'document', path: found[2] ?? '' });
  }
  return files.length === 0 ? { files, text } : { files, text: lines.slice(files.length).join('\n').trim() };
}

function refuse(path: string, why: string): never {
  throw new UploadRefused(`${path} is not sent: ${why}`);
}

/** Where files may come from, as the system names these folders. */
async function rootsOf(base: Base): Promise<readonly string[]> {
  const folders = [base.workspace, mediaFolderOf(base.config.state.home), base.env.TMPDIR ?? tmpdir()];
  const real = await Promise.all(folders.map((folder) => realpath(folder).catch(() => undefined)));
  return real.filter((folder) => folder !== undefined);
}

async function checkPlace(base: Base, place: Place, path: string): Promise<string> {
  const real = await realpath(path).catch(() => refuse(path, 'it is not there'));
  const roots = await rootsOf(base);
  if (!roots.some((root) => isInside(real, root)))
    refuse(path, 'files come from the working directory, the media of this chat, or the temporary folder');
  const home = await realpath(base.config.state.home).catch(() => base.config.state.home);
  const media = join(home, 'media');
  const isMedia = isInside(real, media);
  if (isInside(real, home) && !isMedia) refuse(path, "it is odek's own");
  if (isMedia && !isMediaOf(basename(real), place.chatId)) refuse(path, 'it came from another chat');
  if (isCredential(real, false) || isCredential(path, false) || /(^|\/)\.env/i.test(real)) refuse(path, 'such files hold secrets');
  return real;
}

/**
 * Reads a file that may be sent to this chat: a regular file with one name, reached through no link, in one of the allowed
 * folders, that is none of those which hold secrets. Rejects with {@link UploadRefused}.
 */
export async function readUpload(base: Base, place: Place, wish: FileWish): Promise<ChatUpload> {
  const path = isAbsolute(wish.path) ? resolve(wish.path) : resolve(base.workspace, wish.path);
  const named = await lstat(path).catch(() => refuse(path, 'it is not there'));
  if (named.isSymbolicLink()) refuse(path, 'it is a link');
  const real = await checkPlace(base, place, path);
  if (relative(real, path) !== '' && !(await sameBelowRoot(base, real, path))) refuse(path, 'a folder on the way is a link');
  const file = await open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) =>
    refuse(path, error.code === 'ELOOP' ? 'it is a link' : (error.code ?? 'it cannot be read')),
  );
  try {
    const held = await file.stat();
    if (!held.isFile() || held.nlink !== 1) refuse(path, 'it is no regular file with one name');
    if (held.ino !== named.ino || held.dev !== named.dev) refuse(path, 'it was exchanged meanwhile');
    if (held.size === 0) refuse(path, 'it is empty');
    if (held.size > CHAT_LIMITS.uploadBytes) refuse(path, `it has ${held.size} bytes, the limit is ${CHAT_LIMITS.uploadBytes}`);
    return { kind: wish.kind, name: basename(real), bytes: await file.readFile() };
  } finally {
    await file.close();
  }
}

/** Whether a path differs from its real one only by how the folder that it may lie in is written. */
async function sameBelowRoot(base: Base, real: string, path: string): Promise<boolean> {
  for (const folder of [base.workspace, mediaFolderOf(base.config.state.home), base.env.TMPDIR ?? tmpdir()]) {
    if (!isInside(path, folder)) continue;
    const root = await realpath(folder).catch(() => undefined);
    if (root !== undefined && join(root, relative(folder, path)) === real) return true;
  }
  return false;
}

/** Asks whether a file may leave; without somebody who can be asked it may not. */
export async function mayUpload(
  base: Base,
  approver: Approver | undefined,
  sessionId: string,
  upload: ChatUpload,
  path: string,
  signal: AbortSignal,
): Promise<boolean> {
  if (approver === undefined) return false;
  const wide = base.workspace === '/' || base.workspace === (base.env.HOME ?? homedir());
  const warning = wide ? ` odek works in ${base.workspace}, so this can be any file of yours.` : '';
  const verdict = await approver.decide(
    {
      id: base.ids.hex(8),
      sessionId,
      class: 'network_egress',
      items: [
        {
          callId: 'upload',
          tool: 'send file',
          class: 'network_egress',
          resource: `${path} (${upload.bytes.length} bytes)`,
          reason: `the file is uploaded to Telegram.${warning}`,
        },
      ],
      allowTrust: false,
      friction: false,
      timeoutMs: base.config.dangerous.approval_timeout_seconds * 1000,
    },
    signal,
  );
  return verdict.decision === 'approve';
}
