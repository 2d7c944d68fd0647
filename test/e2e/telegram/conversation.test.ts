import { describe, expect, it } from 'vitest';
import { PATIENT } from '../support/stage.ts';
import { ANN, countOf, EVE, onChatStage } from './stage.ts';

describe('odek telegram', PATIENT, () => {
  it('answers a message in its chat and goes on with the conversation', () =>
    onChatStage([{ text: 'Hello **Ann**.' }, { text: 'You said hi.' }], async ({ telegram, bot, said, server }) => {
      await bot();
      telegram.say({ chatId: ANN, text: 'hi' });
      const answer = await said('Hello Ann.');
      expect(answer.entities).toEqual([{ type: 'bold', offset: 6, length: 3 }]);
      await said('✅ Done · 1 turn');
      telegram.say({ chatId: ANN, text: 'what did I say?' });
      await said('You said hi.');
      const second = JSON.stringify(server.requests[1]?.body.messages);
      expect(second).toContain('Hello **Ann**.');
    }));

  it('does not hear people who are not on the list', () =>
    onChatStage([{ text: 'Hello.' }], async ({ telegram, bot, said, server }) => {
      const running = await bot();
      telegram.say({ chatId: EVE, text: 'hi' });
      await running.untilTold(`ignored: person ${EVE}`);
      telegram.say({ chatId: ANN, text: 'hi' });
      await said('Hello.');
      expect(server.count).toBe(1);
      expect(telegram.history(EVE)).toEqual([]);
      expect(countOf(telegram, 'Hello.')).toBe(1);
    }));
});
