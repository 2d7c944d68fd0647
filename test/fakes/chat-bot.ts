/** A chat service in memory, as the contract's seat: the bot on one side, people on the other. */
import { CHAT_LIMITS, type ChatBot, ChatError, type ChatUpdate } from '../../ports/chat.ts';
import type { ChatContent, ChatMessage, ChatPlace, ChatSent, ChatUser } from '../../ports/chat-message.ts';
import { CancelledError } from '../../ports/errors.ts';
import type { ChatSeat, ShownMessage } from '../contracts/chat-seat.ts';

const TOKEN = '4242:AAtestTokenOfTheFakeChatBot';
const MAX_ATTEMPTS = 5;
const MAX_WAIT_MS = 60_000;
const ME: ChatUser = { id: 4242, isBot: true, name: 'Odek', username: 'odek_test_bot' };

interface Shown extends ShownMessage {
  readonly chatId: number;
  readonly state: string;
}

const stateOf = ({ text, entities, keyboard }: ChatContent): string => JSON.stringify([text, entities, keyboard ?? null]);

function check({ text, entities }: ChatContent): void {
  if (text.length > CHAT_LIMITS.text)
    throw new ChatError('chat_too_long', 'message is too long', { value: text.length, limit: CHAT_LIMITS.text });
  if (text === '') throw new ChatError('chat_bad_request', 'message text is empty');
  const outside = entities.find(({ offset, length }) => offset < 0 || length < 1 || offset + length > text.length);
  if (outside !== undefined) throw new ChatError('chat_bad_request', 'an entity lies outside the text', { value: outside });
}

export function createFakeChat(): ChatSeat {
  const updates: ChatUpdate[] = [];
  const faults: ChatError[] = [];
  const gone = new Set<string>();
  const answers: { readonly id: string; readonly text?: string }[] = [];
  const files = new Map<string, { readonly bytes: Uint8Array; readonly tellsSize: boolean }>();
  let shown: Shown[] = [];
  let next = 1;
  let rival = false;
  let revoked = false;

  const attempt = (once = false): void => {
    for (let number = 1; ; number += 1) {
      if (revoked) throw new ChatError('chat_unauthorized', 'Unauthorized');
      const fault = faults.shift();
      if (fault === undefined) return;
      if (once || number === MAX_ATTEMPTS || (fault.retryAfterMs ?? 0) > MAX_WAIT_MS) throw fault;
    }
  };
  const room = (id: number): ChatMessage['chat'] => ({ id, kind: id > 0 ? 'private' : 'supergroup', isForum: id < 0 });
  const content = ({ text, entities, keyboard }: ChatContent) => ({
    text,
    entities,
    buttons: (keyboard ?? []).map((row) => row.map((each) => ('data' in each ? each.data : each.url))),
    state: stateOf({ text, entities, ...(keyboard !== undefined && { keyboard }) }),
  });
  const put = (place: ChatPlace, what: ReturnType<typeof content>, file?: ShownMessage['file']): ChatSent => {
    const topicId = gone.has(`${place.chatId}/${place.topicId}`) ? undefined : place.topicId;
    const id = next++;
    const chatId = Number(place.chatId);
    shown.push({ id, chatId, ...what, ...(topicId !== undefined && { topicId }), ...(file !== undefined && { file }) });
    return { messageId: id, place: { chatId: place.chatId, ...(topicId !== undefined && { topicId }) }, maybeRepeat: false };
  };
  const indexOf = (chatId: number | string, id: number): number =>
    shown.findIndex((each) => each.chatId === Number(chatId) && each.id === id);

  const bot: ChatBot = {
    feed: {
      async me() {
        attempt();
        return ME;
      },
      async poll({ offset, timeoutSeconds }, signal) {
        if (revoked) throw new ChatError('chat_unauthorized', 'Unauthorized');
        if (rival) throw new ChatError('chat_conflict', 'terminated by other getUpdates request');
        while (updates[0] !== undefined && updates[0].id < offset) updates.shift();
        if (updates.length > 0 || timeoutSeconds === 0) return [...updates];
        await new Promise<void>((resolve, reject) => {
          const cancel = (): void => {
            clearTimeout(timer);
            reject(new CancelledError());
          };
          const timer = setTimeout(() => {
            signal.removeEventListener('abort', cancel);
            resolve();
          }, timeoutSeconds * 1000);
          signal.addEventListener('abort', cancel, { once: true });
        });
        return [...updates];
      },
      async setCommands() {
        attempt();
      },
    },
    messages: {
      async send(place, what) {
        attempt(what.draft);
        check(what);
        return put(place, content(what));
      },
      async edit({ chatId, messageId }, what) {
        attempt(what.draft);
        check(what);
        const at = indexOf(chatId, messageId);
        const before = shown[at];
        if (before === undefined) throw new ChatError('chat_not_found', 'message to edit not found');
        if (before.state === stateOf(what)) throw new ChatError('chat_not_modified', 'message is not modified');
        shown[at] = { ...before, ...content(what) };
      },
      async remove({ chatId, messageId }) {
        attempt();
        const at = indexOf(chatId, messageId);
        shown = shown.filter((_, index) => index !== at);
      },
      async answerCallback(id, text) {
        attempt();
        answers.push({ id, ...(text !== undefined && { text: text.slice(0, CHAT_LIMITS.callbackText) }) });
      },
      async action() {
        attempt(true);
      },
    },
    files: {
      async upload(place, { kind, name, bytes, caption = '' }) {
        attempt();
        return put(place, content({ text: caption, entities: [] }), { kind, name, bytes });
      },
      async download(fileId, maxBytes) {
        attempt();
        const file = files.get(fileId);
        if (file === undefined) throw new ChatError('chat_not_found', 'the file is not there');
        const { bytes, tellsSize } = file;
        const tooBig = new ChatError('chat_file_too_big', 'the file is too big', { value: bytes.byteLength, limit: maxBytes });
        if (tellsSize && bytes.byteLength > maxBytes) throw tooBig;
        async function* read(): AsyncGenerator<Uint8Array> {
          if (bytes.byteLength > maxBytes) throw tooBig;
          yield bytes;
        }
        return { ...(tellsSize && { size: bytes.byteLength }), bytes: read(), cancel: () => undefined };
      },
    },
    close: async () => undefined,
  };

  return {
    bot,
    botId: ME.id,
    token: TOKEN,
    say(chatId, text, thread) {
      const topicId = thread?.isTopic === true && thread.id !== 1 ? thread.id : undefined;
      const from = { id: 5, isBot: false, name: 'User 5' };
      const message = { id: next++, chat: room(chatId), from, at: Date.UTC(2026, 0, 1), text, entities: [] };
      updates.push({ id: next++, kind: 'message', message: { ...message, ...(topicId !== undefined && { topicId }) }, edited: false });
    },
    strange: () => void updates.push({ id: next++, kind: 'other', type: 'poll_answer' }),
    press(chatId, messageId, data) {
      const id = `query-${next++}`;
      const callback = { id, from: { id: 5, isBot: false, name: 'User 5' }, data, message: { id: messageId, chat: room(chatId) } };
      updates.push({ id: next++, kind: 'callback', callback });
      return id;
    },
    setRival(there) {
      rival = there;
    },
    revoke() {
      revoked = true;
    },
    closeTopic: (chatId, topicId) => void gone.add(`${chatId}/${topicId}`),
    fail(times, fault) {
      const of =
        fault === 'service'
          ? new ChatError('chat_service', 'Bad Gateway')
          : fault === 'network'
            ? new ChatError('chat_network', 'the connection failed')
            : new ChatError('chat_rate_limited', 'Too Many Requests', { retryAfterMs: fault.retryAfter * 1000 });
      for (let count = 0; count < times; count += 1) faults.push(of);
    },
    shown: (chatId) => shown.filter((each) => each.chatId === chatId).map(({ chatId: _, state: __, ...message }) => message),
    answered: () => answers,
    addFile(bytes, { tellsSize }) {
      const id = `file${files.size + 1}`;
      files.set(id, { bytes, tellsSize });
      return id;
    },
    close: async () => undefined,
  };
}
