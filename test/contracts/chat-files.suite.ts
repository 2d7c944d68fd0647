import assert from 'node:assert/strict';
import type { ChatDownload } from '../../ports/chat.ts';
import { atSeat, type ChatHarness, never, refused } from './chat-seat.ts';
import type { ContractSuite } from './suite.ts';

/** Every byte, and the line ends of the form that carries them. */
const BYTES = Buffer.concat([Buffer.from(Array.from({ length: 256 }, (_, index) => index)), Buffer.from('\r\n--\r\n')]);

async function whole({ bytes }: ChatDownload): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** The contract of {@link ChatFiles}. */
export const chatFilesSuite: ContractSuite<ChatHarness> = {
  port: 'ChatFiles',
  cases: [
    {
      id: 'chat-files/upload',
      sentence: '`upload` delivers a document, a photo or a voice message whole, with its caption, and tells under which id',
      run: (harness) =>
        atSeat(harness, async ({ bot, shown }) => {
          for (const kind of ['document', 'photo', 'voice'] as const) {
            const sent = await bot.files.upload({ chatId: 5 }, { kind, name: `a.${kind}`, bytes: BYTES, caption: 'see - this' }, never);
            const there = shown(5).at(-1);
            assert.equal(there?.id, sent.messageId);
            assert.equal(there.text, 'see - this');
            assert.equal(there.file?.kind, kind);
            assert.equal(there.file.name, `a.${kind}`);
            assert.deepEqual(Buffer.from(there.file.bytes), BYTES);
          }
        }),
    },
    {
      id: 'chat-files/download',
      sentence: '`download` gives the bytes of a file that came with a message',
      run: (harness) =>
        atSeat(harness, async ({ bot, addFile }) => {
          const id = addFile(BYTES, { tellsSize: true });
          const file = await bot.files.download(id, BYTES.length, never);
          assert.equal(file.size, BYTES.length);
          assert.deepEqual(await whole(file), BYTES);
        }),
    },
    {
      id: 'chat-files/too-big',
      sentence:
        'A file of more than `maxBytes` rejects with `chat_file_too_big`: at once when the service tells its size, else while it is read',
      run: (harness) =>
        atSeat(harness, async ({ bot, addFile }) => {
          const told = addFile(BYTES, { tellsSize: true });
          await refused(bot.files.download(told, BYTES.length - 1, never), 'chat_file_too_big');
          const untold = addFile(BYTES, { tellsSize: false });
          const file = await bot.files.download(untold, BYTES.length - 1, never);
          await refused(whole(file), 'chat_file_too_big');
        }),
    },
    {
      id: 'chat-files/gone',
      sentence: 'A file that is gone rejects with `chat_not_found`',
      run: (harness) => atSeat(harness, ({ bot }) => refused(bot.files.download('nowhere', 10, never), 'chat_not_found')),
    },
  ],
};
