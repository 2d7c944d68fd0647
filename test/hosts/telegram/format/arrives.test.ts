import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatMarkdown } from '../../../../hosts/telegram/format/index.ts';
import { type TelegramSeat, telegramSeat } from '../../../adapters/telegram/seat.ts';
import { withoutSpace } from './validity.ts';

let seat: TelegramSeat;
beforeAll(async () => {
  seat = await telegramSeat();
});
afterAll(() => seat.close());

const pieces = [
  '**',
  '_',
  '`',
  '```\n',
  '\n\n',
  '\n',
  '# ',
  '> ',
  '- ',
  '| a | b |\n',
  '[',
  '](https://x.y/a_b)',
  '<b',
  '😀',
  '\ud83d',
  '.',
  '-',
  '(',
  'words ',
];

describe('what was formatted', () => {
  it('is taken by the service at the first attempt, as it is', async () => {
    const { bot, server } = seat;
    const signal = new AbortController().signal;
    let chatId = 1;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.oneof(fc.constantFrom(...pieces), fc.string({ unit: 'grapheme' })), { maxLength: 60 }), async (all) => {
        chatId += 1;
        const parts = formatMarkdown(all.join(''), 120);
        for (const part of parts) await bot.messages.send({ chatId }, part, signal);
        expect(server.messages(chatId).map(({ text }) => text)).toEqual(parts.map(({ text }) => text));
        expect(
          withoutSpace(
            server
              .messages(chatId)
              .map(({ text }) => text)
              .join(''),
          ),
        ).toBe(withoutSpace(parts.map(({ text }) => text).join('')));
      }),
      { numRuns: 60 },
    );
  });

  it('is ready soon, however long or nested it is', () => {
    const before = performance.now();
    for (const markdown of [
      '**a '.repeat(20_000),
      '[a]('.repeat(5_000),
      '`'.repeat(40_000),
      `${'| a '.repeat(500)}|\n${'|---'.repeat(500)}|\n`.repeat(3),
      '- a\n'.repeat(20_000),
      'word '.repeat(39_000),
      'x'.repeat(190_000),
      '*a _b '.repeat(10_000),
      '> '.repeat(20_000),
      '<a '.repeat(20_000),
      '&amp;\\*'.repeat(10_000),
    ]) {
      expect(formatMarkdown(markdown, 4096).length).toBeGreaterThan(0);
    }
    expect(performance.now() - before).toBeLessThan(20_000);
  });
});
