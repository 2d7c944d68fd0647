import type { ChatFiles } from '../../ports/chat.ts';
import { createFakeChat } from '../fakes/chat-bot.ts';
import type { ChatHarness } from './chat-seat.ts';
import type { BrokenAdapter } from './suite.ts';

const broken = (name: string, caughtBy: string, fault: (files: ChatFiles) => Partial<ChatFiles>): BrokenAdapter<ChatHarness> => ({
  name,
  caughtBy: `chat-files/${caughtBy}`,
  harness: {
    async seat() {
      const seat = createFakeChat();
      return { ...seat, bot: { ...seat.bot, files: { ...seat.bot.files, ...fault(seat.bot.files) } } };
    },
  },
});

/** Bots that each break one sentence. */
export const brokenChatFiles: readonly BrokenAdapter<ChatHarness>[] = [
  broken('treats bytes as text', 'upload', (files) => ({
    upload: (place, file, signal) => files.upload(place, { ...file, bytes: Buffer.from(Buffer.from(file.bytes).toString('utf8')) }, signal),
  })),
  broken('loses the first bytes', 'download', (files) => ({
    async download(id, maxBytes, signal) {
      const file = await files.download(id, maxBytes, signal);
      async function* rest(): AsyncGenerator<Uint8Array> {
        for await (const chunk of file.bytes) yield chunk.subarray(1);
      }
      return { ...file, bytes: rest() };
    },
  })),
  broken('knows no bound', 'too-big', (files) => ({ download: (id, _, signal) => files.download(id, Number.POSITIVE_INFINITY, signal) })),
  broken('gives nothing for a file that is gone', 'gone', (files) => ({
    download: (id, maxBytes, signal) =>
      files.download(id, maxBytes, signal).catch(() => ({ size: 0, bytes: (async function* () {})(), cancel: () => undefined })),
  })),
];
