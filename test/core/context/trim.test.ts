import { describe, expect, it } from 'vitest';
import { planTrim, type Saving, survivalSteps, type Trim } from '../../../core/context/trim.ts';
import type { TranscriptEntry } from '../../../core/transcript/fold.ts';
import type { Message } from '../../../ports/message.ts';

const say = (role: 'system' | 'user' | 'assistant', content: string = role): Message => ({ role, content });

function batch(...results: readonly string[]): Message[] {
  const toolCalls = results.map((_, index) => ({ id: `c${index}`, name: 't', arguments: '{}' }));
  return [
    { role: 'assistant', content: '', toolCalls },
    ...results.map((content, index): Message => ({ role: 'tool', callId: `c${index}`, name: 't', content, outcome: 'completed' })),
  ];
}

const long = (mark: string, length = 2_001): string => mark.padEnd(length, '.');

function entries(...messages: readonly Message[]): TranscriptEntry[] {
  return messages.map((message, index) => ({ seq: index + 1, message }));
}

/** The same whether results or groups save it. */
const by = (tokens: number): Saving => ({ enough: tokens, target: tokens });

const shortened = ({ shortened: all }: Trim): readonly number[] => all.map(({ index }) => index);
const dropped = ({ dropped: all }: Trim): readonly (readonly [number, number])[] => all.map(({ index, count }) => [index, count]);

describe('the first pass', () => {
  const shown = entries(
    say('system'),
    say('user'),
    ...batch(long('a'), long('b', 2_000)),
    ...batch(long('c')),
    ...batch(long('d')),
    ...batch(long('e')),
    ...batch(long('f')),
    ...batch(long('g')),
  );

  it('shortens results of more than 2,000 bytes, but not the newest four', () => {
    const trim = planTrim(shown, by(1));
    expect(shortened(trim)).toEqual([3, 6]);
    expect(dropped(trim)).toEqual([]);
    expect(trim.shortened[0]?.content).toBe('[tool output trimmed: 2001 bytes dropped to fit context budget]');
  });

  it('counts bytes, not characters', () => {
    const umlauts = entries(say('user'), ...batch('ä'.repeat(1_001)), ...batch('1', '2', '3', '4'));
    expect(shortened(planTrim(umlauts, by(1)))).toEqual([2]);
    expect(planTrim(umlauts, by(1)).shortened[0]?.content).toContain(' 2002 bytes ');
  });

  it('leaves a newest batch of more than four results whole', () => {
    const wide = entries(say('user'), ...batch(long('old')), ...batch(...'abcdef'.split('').map((letter) => long(letter))));
    expect(shortened(planTrim(wide, by(1)))).toEqual([2]);
  });

  it('shortens nothing twice', () => {
    const once = planTrim(shown, by(1));
    const after = shown.map((entry, index) => {
      const short = once.shortened.find((each) => each.index === index);
      return short ? { seq: entry.seq, message: { ...entry.message, content: short.content } as Message } : entry;
    });
    expect(shortened(planTrim(after, by(1)))).toEqual([]);
  });
});

describe('the second pass', () => {
  const shown = entries(
    say('system'),
    say('user', 'task'),
    ...batch('1a', '1b'),
    say('system', 'hint'),
    say('assistant', 'an answer'),
    say('user', 'next'),
    ...batch('2'),
    ...batch('3'),
  );

  it('drops the oldest groups, whole, until enough is saved', () => {
    const first = planTrim(shown, by(1));
    expect(dropped(first)).toEqual([[2, 3]]);
    expect(dropped(planTrim(shown, by(first.saved + 1)))).toEqual([
      [2, 3],
      [5, 1],
    ]);
  });

  it('takes into account what dropping adds elsewhere', () => {
    const first = planTrim(shown, by(1));
    expect(dropped(planTrim(shown, { enough: 1, target: 1 + first.saved })).length).toBe(2);
  });

  it('stops at the newest turn and never touches task, newest user message or slots', () => {
    const everything = planTrim(shown, by(1_000_000));
    expect(dropped(everything)).toEqual([
      [2, 3],
      [5, 1],
      [6, 1],
      [8, 2],
    ]);
    const slots = shown.map((entry, index) => (index === 5 ? { ...entry, seq: 0 } : entry));
    expect(dropped(planTrim(slots, by(1_000_000))).map(([index]) => index)).toEqual([2, 6, 8]);
  });

  it('does not save what it drops twice: results that were to be shortened go with their group', () => {
    const heavy = entries(say('user'), ...batch(long('a', 8_000)), ...batch('b'), ...batch('1', '2', '3', '4'));
    const trim = planTrim(heavy, by(2_140));
    expect(shortened(trim)).toEqual([]);
    expect(dropped(trim)).toEqual([
      [1, 2],
      [3, 2],
    ]);
  });
});

describe('survival', () => {
  it('keeps head, last user message and the last two tool groups with the hints before them', () => {
    const shown = entries(
      say('system'),
      say('user', 'task'),
      ...batch('1'),
      ...batch('2'),
      say('system', 'hint of 3'),
      ...batch('3'),
      say('assistant', 'text'),
      say('system', 'hint of 4'),
      ...batch('4'),
    );
    expect(dropped(survivalSteps(shown)[0] as Trim)).toEqual([
      [2, 2],
      [4, 2],
      [9, 1],
    ]);
  });

  it('keeps two groups before a user message that nothing answered', () => {
    const shown = entries(say('system'), say('user', 'task'), ...batch('1'), ...batch('2'), ...batch('3'), say('user', 'now'));
    expect(dropped(survivalSteps(shown)[0] as Trim)).toEqual([[2, 2]]);
  });

  it('goes on to long results, those of the newest turn last', () => {
    const shown = entries(say('system'), say('user', 'task'), ...batch(long('1')), ...batch(long('2')));
    expect(survivalSteps(shown).map(dropped)).toEqual([[], [], []]);
    expect(survivalSteps(shown).map(shortened)).toEqual([[], [3], [5]]);
  });
});
