/** A Bot API server on 127.0.0.1 that checks the real one's limits and keeps everything for asserts. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { badRequest, Refusal, sendRefusal, sendResult, type TelegramFault } from './faults.ts';
import { attached, checkKeyboard, editMessage, findMessage, type Room, readText, type StoredMessage } from './methods.ts';
import { type Params, readRequest, type UploadedFile } from './request.ts';
import { callbackUpdate, messageUpdate, type Press, type Saying } from './updates.ts';

export type { TelegramFault } from './faults.ts';
export { badGateway, blocked, tooManyRequests } from './faults.ts';
export type { StoredMessage } from './methods.ts';
export type { Params } from './request.ts';

export interface TelegramCall {
  readonly method: string;
  readonly params: Params;
  readonly files: readonly UploadedFile[];
  /** Milliseconds, monotonic. */
  readonly at: number;
}

export interface TelegramServer {
  /** For `telegram.api_root`. */
  readonly url: string;
  readonly token: string;
  readonly bot: { readonly id: number; readonly username: string };
  /** Every call that came with the right token, refused ones too, in order. */
  readonly calls: readonly TelegramCall[];
  /** Requests with another token. */
  readonly strangers: number;
  callsOf(method: string): readonly TelegramCall[];
  /** What the bot wrote in a chat and is there now, oldest first. */
  messages(chatId: number): readonly StoredMessage[];
  /** Every message it ever wrote there. */
  history(chatId: number): readonly StoredMessage[];
  /** Someone writes. Returns the update's id. */
  say(saying: Saying): number;
  /** Someone presses a button. Returns the update's id. */
  press(press: Press): number;
  /** Any update; `update_id` is added. */
  push(update: Params): number;
  /** The id that the next update gets. */
  jumpTo(updateId: number): void;
  /** Updates that nobody confirmed yet. */
  pending(): number;
  /** Queues what happens to the next calls of a method; `*`: of any but getUpdates. */
  fail(method: string, ...faults: readonly TelegramFault[]): void;
  /** Another instance polls as well: every poll is refused. */
  setRival(there: boolean): void;
  setWebhook(url: string): void;
  /** The token is not valid any more, or again. */
  setRevoked(revoked: boolean): void;
  closeTopic(chatId: number, topicId: number): void;
  /** A group becomes a supergroup, which has another id. */
  upgrade(chatId: number, newId: number): void;
  /** Makes a chat unknown: it was deleted, or the bot was removed. */
  forget(chatId: number): void;
  /** Returns the `file_id`. `hideSize`: getFile does not tell the size. */
  addFile(bytes: Uint8Array, options?: { readonly hideSize?: boolean }): string;
  removeFile(fileId: string): void;
  /** Resolves once `found` gives something; rejects after `ms` (10 s unless told). */
  until<T>(found: () => T | undefined | false, ms?: number): Promise<T>;
  close(): Promise<void>;
}

interface Poll {
  readonly offset: number;
  end(refusal?: Refusal): void;
}

const CONFLICT = 'Conflict: terminated by other getUpdates request; make sure that only one bot instance is running';
const WEBHOOK = "Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first";
const MAX_FILE = 20 * 1024 * 1024;
const SENDS: Readonly<Record<string, string>> = { sendDocument: 'document', sendPhoto: 'photo', sendVoice: 'voice' };

export async function startTelegramServer(options: { readonly token?: string; readonly port?: number } = {}): Promise<TelegramServer> {
  const token = options.token ?? '4242:AAtestTokenOfTheFakeBotApiServer';
  const bot = { id: 4242, is_bot: true, first_name: 'Odek', username: 'odek_test_bot' };
  const calls: TelegramCall[] = [];
  const rooms = new Map<number, Room>();
  const queue: Params[] = [];
  const faults = new Map<string, TelegramFault[]>();
  const files = new Map<string, { bytes: Buffer; hideSize: boolean }>();
  const closedTopics = new Set<string>();
  const forgotten = new Set<number>();
  const moved = new Map<number, number>();
  const watchers = new Set<() => void>();
  const queries = new Set<string>();
  let poll: Poll | undefined;
  let nextUpdate = 1000;
  let nextMessage = 1;
  let strangers = 0;
  let rival = false;
  let revoked = false;
  let webhook = '';

  const wake = (): void => {
    for (const each of watchers) each();
  };
  const roomOf = (chatId: number): Room => {
    const known = rooms.get(chatId);
    if (known !== undefined) return known;
    const made = { chatId, messages: [] };
    rooms.set(chatId, made);
    return made;
  };
  const push = (update: Params): number => {
    const id = nextUpdate++;
    queue.push({ update_id: id, ...update });
    poll?.end();
    return id;
  };

  const store = (params: Params, content: Pick<StoredMessage, 'text' | 'entities'> & Pick<Partial<StoredMessage>, 'file'>): object => {
    const chatId = typeof params.chat_id === 'number' ? params.chat_id : Number.NaN;
    const newId = moved.get(chatId);
    if (newId !== undefined) {
      throw new Refusal(400, 'Bad Request: group chat was upgraded to a supergroup chat', { migrate_to_chat_id: newId });
    }
    if (!Number.isSafeInteger(chatId) || forgotten.has(chatId)) throw badRequest('chat not found');
    const topic: unknown = params.message_thread_id;
    if (topic !== undefined && (topic === 1 || closedTopics.has(`${chatId}/${topic}`))) throw badRequest('message thread not found');
    checkKeyboard(params.reply_markup as Params | undefined);
    const replyTo = params.reply_parameters as Params | undefined;
    const message: StoredMessage = {
      id: nextMessage++,
      chatId,
      ...(topic !== undefined && { topicId: topic as number }),
      ...content,
      ...(params.reply_markup !== undefined && { keyboard: params.reply_markup as Params }),
      ...(replyTo !== undefined && { replyTo: replyTo.message_id as number }),
      deleted: false,
      edits: 0,
    };
    roomOf(chatId).messages.push(message);
    return { message_id: message.id, date: Math.floor(Date.now() / 1000), chat: { id: chatId, type: 'private' }, text: message.text };
  };

  const run = (method: string, params: Params, uploads: readonly UploadedFile[]): unknown => {
    const kind = SENDS[method];
    if (kind !== undefined) {
      const { name, bytes } = attached(params, kind, uploads);
      return store(params, { ...readText(params, 'caption'), file: { kind, name, bytes } });
    }
    switch (method) {
      case 'getMe':
        return bot;
      case 'sendMessage':
        return store(params, readText(params, 'text'));
      case 'editMessageText':
        editMessage(findMessage(rooms.get(params.chat_id as number), params.message_id, 'edit'), params);
        return true;
      case 'deleteMessage':
        findMessage(rooms.get(params.chat_id as number), params.message_id, 'delete').deleted = true;
        return true;
      case 'answerCallbackQuery':
        if (!queries.has(String(params.callback_query_id))) {
          throw badRequest('query is too old and response timeout expired or query ID is invalid');
        }
        if (String(params.text ?? '').length > 200) throw badRequest('MESSAGE_TOO_LONG');
        return true;
      case 'sendChatAction':
        if (params.message_thread_id !== undefined && closedTopics.has(`${params.chat_id}/${params.message_thread_id}`)) {
          throw badRequest('message thread not found');
        }
        return true;
      case 'getFile': {
        const file = files.get(String(params.file_id));
        if (file === undefined) throw badRequest('wrong file_id or the file is temporarily unavailable');
        if (file.bytes.length > MAX_FILE) throw badRequest('file is too big');
        const size = file.hideSize ? {} : { file_size: file.bytes.length };
        return { file_id: params.file_id, file_unique_id: `u${params.file_id}`, file_path: `documents/${params.file_id}`, ...size };
      }
      case 'deleteWebhook':
        webhook = '';
        return true;
      case 'setMyCommands':
        for (const { command, description } of params.commands as Params[]) {
          if (!/^[a-z0-9_]{1,32}$/.test(String(command))) throw badRequest('BOT_COMMAND_INVALID');
          if (String(description).length < 1 || String(description).length > 256) throw badRequest('BOT_COMMAND_DESCRIPTION_INVALID');
        }
        return true;
      default:
        return true;
    }
  };

  const answerPoll = async (params: Params, outgoing: ServerResponse): Promise<void> => {
    if (webhook !== '') throw new Refusal(409, WEBHOOK);
    if (rival) throw new Refusal(409, CONFLICT);
    poll?.end(new Refusal(409, CONFLICT));
    const offset = Number(params.offset ?? 0);
    while (queue[0] !== undefined && offset > 0 && queue[0].update_id < offset) queue.shift();
    wake();
    const due = (): readonly Params[] => queue.slice(0, Number(params.limit ?? 100));
    if (due().length === 0 && Number(params.timeout ?? 0) > 0) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(() => mine.end(), Number(params.timeout) * 1000);
        const mine: Poll = {
          offset,
          end(refusal) {
            clearTimeout(timer);
            if (poll === mine) poll = undefined;
            if (refusal === undefined) resolve();
            else reject(refusal);
          },
        };
        poll = mine;
        outgoing.once('close', () => mine.end());
      });
    }
    sendResult(outgoing, due());
  };

  const takeFault = (method: string): TelegramFault | undefined =>
    faults.get(method)?.shift() ?? (method === 'getUpdates' ? undefined : faults.get('*')?.shift());

  const answer = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const [, isFile, given, rest = ''] = /^\/(file\/)?bot([^/]+)\/(.*)$/.exec(incoming.url ?? '') ?? [];
    if (given !== token || revoked) {
      strangers += 1;
      throw new Refusal(401, 'Unauthorized');
    }
    if (isFile !== undefined) {
      const file = files.get(rest.replace('documents/', ''));
      if (file === undefined) throw new Refusal(404, 'Not Found');
      outgoing.writeHead(200, { 'content-type': 'application/octet-stream' });
      outgoing.end(file.bytes);
      return;
    }
    const { params, files: uploads } = await readRequest(incoming);
    calls.push({ method: rest, params, files: uploads, at: performance.now() });
    const fault = takeFault(rest);
    if (fault?.kind === 'error') {
      throw new Refusal(fault.code, fault.description, fault.retryAfter === undefined ? {} : { retry_after: fault.retryAfter });
    }
    if (fault?.kind === 'drop' && fault.done !== true) return void outgoing.destroy();
    if (fault?.kind === 'garbage')
      return void outgoing.writeHead(fault.status ?? 502, { 'content-type': 'text/html' }).end('<html>Bad Gateway</html>');
    if (rest === 'getUpdates') return answerPoll(params, outgoing);
    const result = run(rest, params, uploads);
    if (fault?.kind === 'slow') await delay(fault.ms);
    if (fault?.kind === 'drop') return void outgoing.destroy();
    sendResult(outgoing, result);
  };

  const server = createServer((incoming, outgoing) => {
    answer(incoming, outgoing)
      .catch((error: unknown) => {
        if (outgoing.destroyed) return;
        sendRefusal(outgoing, error instanceof Refusal ? error : new Refusal(500, `Internal Server Error: ${String(error)}`));
      })
      .finally(wake);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, '127.0.0.1', resolve);
  });

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token,
    bot,
    calls,
    get strangers() {
      return strangers;
    },
    callsOf: (method) => calls.filter((each) => each.method === method),
    messages: (chatId) => (rooms.get(chatId)?.messages ?? []).filter((each) => !each.deleted),
    history: (chatId) => rooms.get(chatId)?.messages ?? [],
    say: (saying) => push(messageUpdate(saying, nextMessage++)),
    press(press) {
      const update = callbackUpdate(press);
      queries.add(String(update.callback_query.id));
      return push(update);
    },
    push,
    jumpTo(updateId) {
      nextUpdate = updateId;
    },
    pending: () => queue.length,
    fail(method, ...list) {
      faults.set(method, [...(faults.get(method) ?? []), ...list]);
    },
    setRival(there) {
      rival = there;
      if (there) poll?.end(new Refusal(409, CONFLICT));
    },
    setWebhook(url) {
      webhook = url;
    },
    setRevoked(value) {
      revoked = value;
      if (value) poll?.end(new Refusal(401, 'Unauthorized'));
    },
    closeTopic: (chatId, topicId) => void closedTopics.add(`${chatId}/${topicId}`),
    upgrade: (chatId, newId) => void moved.set(chatId, newId),
    forget: (chatId) => void forgotten.add(chatId),
    addFile(bytes, { hideSize = false } = {}) {
      const id = `file${files.size + 1}`;
      files.set(id, { bytes: Buffer.from(bytes), hideSize });
      return id;
    },
    removeFile: (fileId) => void files.delete(fileId),
    until(found, ms = 10_000) {
      return new Promise((resolve, reject) => {
        const timer = setTimeout(() => end(() => reject(new Error(`it did not come about within ${ms} ms`))), ms);
        const look = (): void => {
          const value = found();
          if (value !== undefined && value !== false) end(() => resolve(value));
        };
        const end = (act: () => void): void => {
          clearTimeout(timer);
          watchers.delete(look);
          act();
        };
        watchers.add(look);
        look();
      });
    },
    close: () =>
      new Promise((resolve) => {
        poll?.end();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
