import { describe, expect, it } from 'vitest';
import { onStage, PATIENT } from '../support/stage.ts';

const PROMPT = '› ';
const ASK = { calls: [{ name: 'clarify', arguments: { question: 'Red or \u001b[31mblue?' } }] };

const toolNames = (body: { readonly tools: readonly { readonly function: { readonly name: string } }[] }) =>
  body.tools.map(({ function: { name } }) => name);

describe.concurrent('clarify', PATIENT, () => {
  it('asks the person at the terminal of a repl, and hands the answer to the model', () =>
    onStage([ASK, { text: 'blue it is' }], async ({ terminal, server }) => {
      const seen = await terminal(
        ['repl'],
        [
          { wait: PROMPT },
          { send: 'paint\r' },
          { wait: 'your answer: ' },
          { send: 'blue\r' },
          { wait: 'blue it is' },
          { wait: PROMPT },
          { send: '/exit\r' },
        ],
      );
      expect(seen.exit).toBe(0);
      expect(seen.raw).toContain('Red or \\x1b[31mblue?');
      expect(seen.raw).not.toContain('Red or \u001b[31m');
      expect(server.requests[1]?.body.messages.at(-1).content).toContain('{"answer":"blue"}');
    }));

  it('tells the model that the person was silent, and ends with the turn at Ctrl-C', () =>
    onStage([ASK, ASK, { text: 'guessed' }, { text: 'again' }], async ({ terminal, server }) => {
      const seen = await terminal(
        ['repl'],
        [
          { wait: PROMPT },
          { send: 'paint\r' },
          { wait: 'your answer: ' },
          { send: '\r' },
          { wait: 'your answer: ' },
          { pause: 0.3 },
          { send: '\u0003' },
          { wait: PROMPT },
          { send: 'go on\r' },
          { wait: 'guessed' },
          { wait: PROMPT },
          { send: '/exit\r' },
        ],
      );
      expect(seen.exit).toBe(0);
      expect(server.requests[1]?.body.messages.at(-1).content).toContain('the person gave no answer');
    }));

  it('does not exist in a run', () =>
    onStage([{ text: 'done' }], async ({ run, server }) => {
      expect((await run(['run', 'go'])).code).toBe(0);
      expect(toolNames(server.requests[0]?.body)).not.toContain('clarify');
    }));
});
