import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSyntheticId, nameCalls, wireCallId } from '../../../../adapters/llm/wire/call-ids.ts';
import { REQUEST } from '../wire.ts';

const RULE = { allowed: /[A-Za-z0-9_-]/, maxLength: 40 };

describe('ids of calls', () => {
  it('that fit stay as they are', () => {
    expect(wireCallId('toolu_01', RULE)).toBe('toolu_01');
  });

  it('always fit, and different ones stay different', () => {
    fc.assert(
      fc.property(fc.string({ maxLength: 80 }), fc.string({ maxLength: 80 }), (a, b) => {
        const [first, second] = [wireCallId(a, RULE), wireCallId(b, RULE)];
        expect(first).toMatch(/^[A-Za-z0-9_-]{1,40}$/);
        expect(first === second).toBe(a === b);
      }),
    );
    expect(wireCallId('a.b', RULE)).not.toBe(wireCallId('a:b', RULE));
  });

  it('are made where a service gave none or gave one twice', () => {
    const drafts = ['', 'x', 'x'].map((id) => ({ id, name: 't', arguments: '' }));
    const calls = nameCalls(drafts, true, REQUEST);
    expect(calls.map(({ id }) => id)).toEqual(['it1-call0', 'x', 'it1-call2']);
    expect(calls.map(({ id }) => isSyntheticId(id))).toEqual([true, false, true]);
    expect(calls[0]?.arguments).toBe('{}');
    expect(nameCalls(drafts, false, REQUEST)[0]?.arguments).toBe('');
  });
});
