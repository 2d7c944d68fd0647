import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReplyPart } from '../../../../adapters/llm/wire/reply-parts.ts';
import { partsOf, signParts } from '../../../../adapters/llm/wire/reply-parts.ts';
import type { AssistantMessage, ToolCall } from '../../../../ports/message.ts';

/** The message that a turn of these parts is stored as. */
function stored(parts: readonly ReplyPart[], origin = 'me'): AssistantMessage {
  const join = (kind: string): string => parts.map((part) => (part.kind === kind && 'text' in part ? part.text : '')).join('');
  const calls = parts.flatMap((part): ToolCall[] => (part.kind === 'call' ? [part.call] : []));
  const signature = signParts('f', parts);
  return {
    role: 'assistant',
    content: join('text'),
    reasoning: join('reasoning'),
    origin,
    ...(signature === undefined ? {} : { reasoningSignature: signature }),
    ...(calls.length === 0 ? {} : { toolCalls: calls }),
  };
}

const text = fc.string({ minLength: 1 });
const sign = fc.option(fc.base64String({ minLength: 1 }), { nil: undefined });
const part: fc.Arbitrary<ReplyPart> = fc.oneof(
  fc.tuple(text, sign).map(([said, signed]): ReplyPart => ({ kind: 'reasoning', text: said, ...(signed && { sign: signed }) })),
  fc.tuple(text, sign).map(([said, signed]): ReplyPart => ({ kind: 'text', text: said, ...(signed && { sign: signed }) })),
  fc.base64String({ minLength: 1 }).map((signed): ReplyPart => ({ kind: 'hidden', sign: signed })),
  fc
    .tuple(fc.uuid(), sign)
    .map(([id, signed]): ReplyPart => ({ kind: 'call', call: { id, name: 't', arguments: '{}' }, ...(signed && { sign: signed }) })),
);

describe('the parts of a turn', () => {
  it('come out of a stored message as they went in, when one of them is signed', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        const message = stored(parts);
        if (message.reasoningSignature !== undefined) expect(partsOf(message, 'f', 'me')).toEqual(parts);
      }),
    );
  });

  it('are text and calls alone for another provider and another format', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 8 }), (parts) => {
        for (const seen of [partsOf(stored(parts), 'f', 'you'), partsOf(stored(parts), 'g', 'me')]) {
          expect(seen.filter(({ kind, ...rest }) => kind === 'reasoning' || kind === 'hidden' || 'sign' in rest)).toEqual([]);
          expect(seen.map((each) => (each.kind === 'text' ? each.text : '')).join('')).toBe(stored(parts).content);
          expect(seen.flatMap((each) => (each.kind === 'call' ? [each.call] : []))).toEqual(stored(parts).toolCalls ?? []);
        }
      }),
    );
  });

  it('lose no signed reasoning when the text was changed', () => {
    const parts: ReplyPart[] = [
      { kind: 'text', text: 'before' },
      { kind: 'reasoning', text: 'why', sign: 'S' },
      { kind: 'text', text: 'secret' },
    ];
    expect(partsOf({ ...stored(parts), content: 'before[redacted]' }, 'f', 'me')).toEqual([
      { kind: 'reasoning', text: 'why', sign: 'S' },
      { kind: 'text', text: 'before[redacted]' },
    ]);
  });

  it('of a message from before providers were named are taken for the own ones', () => {
    const { origin: _, ...old } = stored([{ kind: 'reasoning', text: 'why', sign: 'S' }]);
    expect(partsOf(old, 'f', 'me')).toEqual([{ kind: 'reasoning', text: 'why', sign: 'S' }]);
  });

  it.each([
    '',
    'text',
    '{}',
    'null',
    '{"format":"f"}',
    '{"format":"f","parts":[1]}',
    '{"format":"f","parts":[["z",0]]}',
    '{"format":"f","parts":[["r",99,"S"]]}',
  ])('are plain where the signature is %j', (reasoningSignature) => {
    expect(partsOf({ role: 'assistant', content: 'a', reasoning: 'r', reasoningSignature }, 'f', 'me')).toEqual([
      { kind: 'text', text: 'a' },
    ]);
  });
});
