import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { archivedId, belongsTo, placeOfSession, sessionIdOf } from '../../../hosts/telegram/rooms.ts';

const place = fc.record(
  { chatId: fc.integer({ min: -(2 ** 52), max: 2 ** 52 }), topicId: fc.integer({ min: 2, max: 2 ** 31 }) },
  { requiredKeys: ['chatId'] },
);
const instant = fc.integer({ min: 0, max: 4_000_000_000_000 });

describe('the session of a place', () => {
  it('names it, archived or not, and belongs to no other place', () => {
    fc.assert(
      fc.property(place, place, instant, fc.integer({ min: 1, max: 99 }), (one, other, now, number) => {
        for (const id of [sessionIdOf(one), archivedId(one, now, number)]) {
          expect(placeOfSession(id)).toEqual(one);
          expect(belongsTo(id, one)).toBe(true);
          expect(belongsTo(id, other)).toBe(sessionIdOf(one) === sessionIdOf(other));
        }
      }),
    );
  });

  it('is told apart from those of other surfaces', () => {
    for (const id of ['jb-12345678', '20260101-00', 'tg-', 'tg-x', 'xtg-1', 'tg-1x']) expect(placeOfSession(id), id).toBeUndefined();
    expect(belongsTo('tg-1-t5', { chatId: 1 })).toBe(false);
    expect(belongsTo('tg-12', { chatId: 1 })).toBe(false);
  });
});
