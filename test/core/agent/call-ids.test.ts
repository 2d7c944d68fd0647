import { expect, it } from 'vitest';
import { createCallIds } from '../../../core/agent/call-ids.ts';
import type { Message } from '../../../ports/message.ts';

const calls = (...ids: string[]) => ids.map((id) => ({ id, name: 'look', arguments: '{}' }));
const said = (...ids: string[]): Message => ({ role: 'assistant', content: '', toolCalls: calls(...ids) });

it('keeps ids that no earlier call has', () => {
  const given = calls('a', 'b');
  expect(createCallIds([said('c')]).distinct(given, 1)).toEqual(given);
});

it('names a call after its place when an earlier one has its id', () => {
  const ids = createCallIds([said('same')]);
  expect(ids.distinct(calls('new', 'same'), 3).map(({ id }) => id)).toEqual(['new', 'it3-call1']);
  expect(ids.distinct(calls('new', 'same'), 4).map(({ id }) => id)).toEqual(['it4-call0', 'it4-call1']);
});

it('finds a free name when a run before this one took the place', () => {
  const ids = createCallIds([said('same', 'it1-call0', 'it1-call0-2')]);
  expect(ids.distinct(calls('same'), 1).map(({ id }) => id)).toEqual(['it1-call0-3']);
});

it('keeps calls of one response apart', () => {
  expect(
    createCallIds([])
      .distinct(calls('x', 'x', 'x'), 1)
      .map(({ id }) => id),
  ).toEqual(['x', 'it1-call1', 'it1-call2']);
});
