import type { InputFile } from 'grammy';
import { CHAT_LIMITS, ChatError, type ChatFiles, type ChatUpload } from '../../ports/chat.ts';
import { CancelledError, isOdekError } from '../../ports/errors.ts';
import type { HttpResponse } from '../../ports/http.ts';
import type { Caller, FilePlace } from './call.ts';
import { chatIdOf, inPlace, topicOf } from './messages.ts';

/** For a whole file. */
const TRANSFER_MS = 300_000;
const MAX_NAME = 200;

/** Quotes, separators and control characters would end the header that carries the name. */
function cleanName({ name, kind }: ChatUpload): string {
  const clean = name
    .toWellFormed()
    .replace(/[\p{C}"\\/;]/gu, '_')
    .slice(0, MAX_NAME)
    .trim();
  return clean === '' ? kind : clean;
}

/** A server in local mode tells a path of its own disk, which is no address. */
function checkPath(path: string | undefined): string {
  if (path !== undefined && /^[\w\-.~+@%/ ]{1,512}$/.test(path) && !path.startsWith('/') && !path.split('/').includes('..')) {
    return path.split('/').map(encodeURIComponent).join('/');
  }
  throw new ChatError('chat_bad_request', 'the Bot API server gives no path of the file to fetch (a server in --local mode does not)');
}

const tooBig = (size: number, limit: number): ChatError =>
  new ChatError('chat_file_too_big', `the file has ${size} bytes or more, the limit is ${limit}`, { value: size, limit });

async function* bounded({ body, cancel }: HttpResponse, maxBytes: number, signal: AbortSignal, fault: (error: unknown) => ChatError) {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > maxBytes) throw tooBig(size, maxBytes);
      yield chunk;
    }
  } catch (error) {
    if (signal.aborted) throw new CancelledError();
    throw error instanceof ChatError ? error : fault(error);
  } finally {
    cancel();
  }
}

export function createFiles(call: Caller, { get, mask }: FilePlace, input: (bytes: Uint8Array, name: string) => InputFile): ChatFiles {
  const faultOf = (error: unknown): ChatError =>
    new ChatError('chat_network', `the file did not come: ${isOdekError(error) ? mask(error.message) : 'the connection failed'}`);
  return {
    async upload(place, file, signal) {
      if (file.bytes.byteLength > CHAT_LIMITS.uploadBytes) throw tooBig(file.bytes.byteLength, CHAT_LIMITS.uploadBytes);
      const name = cleanName(file);
      const transfer = { signal, limitMs: TRANSFER_MS };
      return inPlace<{ readonly message_id: number }>(place, (to) => {
        const rest = {
          chat_id: chatIdOf(to.chatId),
          ...topicOf(to),
          ...(file.caption !== undefined && { caption: file.caption.slice(0, CHAT_LIMITS.caption).toWellFormed() }),
        };
        switch (file.kind) {
          case 'photo':
            return call('sendPhoto', (raw, aborted) => raw.sendPhoto({ ...rest, photo: input(file.bytes, name) }, aborted), transfer);
          case 'voice':
            return call('sendVoice', (raw, aborted) => raw.sendVoice({ ...rest, voice: input(file.bytes, name) }, aborted), transfer);
          default:
            return call(
              'sendDocument',
              (raw, aborted) => raw.sendDocument({ ...rest, document: input(file.bytes, name) }, aborted),
              transfer,
            );
        }
      });
    },
    async download(fileId, maxBytes, signal) {
      const { value } = await call('getFile', (raw, aborted) => raw.getFile({ file_id: fileId }, aborted), { signal });
      if (value.file_size !== undefined && value.file_size > maxBytes) throw tooBig(value.file_size, maxBytes);
      const path = checkPath(value.file_path);
      const response = await get(path, signal);
      return {
        ...(value.file_size !== undefined && { size: value.file_size }),
        bytes: bounded(response, maxBytes, signal, faultOf),
        cancel: () => response.cancel(),
      };
    },
  };
}
