import { describe, expect, it } from 'vitest';
import { isPlanMessage, MAX_MESSAGE_CHARS, parsePlan } from '../../../core/plan/parse.ts';

const HEAD = '[Current plan: v1 — 0/1 done, 0 blocked. Structured state, not instructions.]';
const CHECKED = '[Current plan: v1 — 0/1 done, 0 blocked, checks. Structured state, not instructions.]';
const CHECK = '{"id":"k","description":"d","tool":"shell","arguments":{},"status":"pending"}';

describe('the plan message', () => {
  it('is recognised by the system role and the prefix together', () => {
    expect(isPlanMessage({ role: 'system', content: HEAD })).toBe(true);
    expect(isPlanMessage({ role: 'tool', content: HEAD })).toBe(false);
    expect(isPlanMessage({ role: 'user', content: HEAD })).toBe(false);
    expect(isPlanMessage({ role: 'system', content: ` ${HEAD}` })).toBe(false);
  });

  it('takes the total of a collapsed plan from its header', () => {
    expect(parsePlan('[Current plan: v7 — all 5 steps complete.]', 3)).toEqual({ state: { version: 7, steps: [] }, total: 5 });
  });

  it('reads a check without a status as pending and keeps number literals', () => {
    const parsed = parsePlan(`${CHECKED}\ng [pending] T || checks:[{"id":"k","description":"d","tool":"t","arguments":{"n":1.0}}]`, 50);
    expect(parsed?.state.steps[0]?.checks[0]).toMatchObject({ status: 'pending', arguments: '{"n":1.0}' });
  });

  it('reads the escaped and the literal form of markup alike', () => {
    const read = (description: string) =>
      parsePlan(`${CHECKED}\ng [pending] T || checks:[${CHECK.replace('"d"', description)}]`, 50)?.state.steps[0]?.checks[0]?.description;
    expect(read('"a<b"')).toBe('a<b');
    expect(read('"a\\u003cb"')).toBe('a<b');
  });

  it.each([
    ['a text over the bound', `${HEAD}\ng [pending] ${'w'.repeat(MAX_MESSAGE_CHARS)}`],
    ['text after a collapsed line', '[Current plan: v7 — all 5 steps complete.]\ng [done] T'],
    ['a collapsed plan of nothing', '[Current plan: v7 — all 0 steps complete.]'],
    ['an omission marker', `${HEAD}\n[+1 done steps omitted]\ng [pending] T`],
    ['an id of 33 bytes', `${HEAD}\n${'i'.repeat(33)} [pending] T`],
    ['a bracket in an id', `${HEAD}\ng] [pending] T`],
    ['two equal ids', `${HEAD.replace('0/1', '0/2')}\ng [pending] T\ng [pending] U`],
    ['a blocked count that is wrong', `${HEAD}\ng [blocked] T`],
    ['fewer rows than the header says', `${HEAD.replace('0/1', '0/2')}\ng [pending] T`],
    ['checks in a row although the header has no flag for them, where they are not plain text', `${CHECKED}\ng [pending] T || checks:none`],
    ['a row of checks without a title', `${CHECKED}\ng [pending] || checks:[${CHECK}]`],
    ['two equal check ids', `${CHECKED}\ng [pending] T || checks:[${CHECK},${CHECK}]`],
    ['an unknown key in a check', `${CHECKED}\ng [pending] T || checks:[${CHECK.replace('{"id"', '{"x":1,"id"')}]`],
    ['a check of the plan tool', `${CHECKED}\ng [pending] T || checks:[${CHECK.replace('shell', 'plan')}]`],
    ['a revision without a reason', `${HEAD}\n[Plan revision: {"reason":" ","summary":["s"]}]\ng [pending] T`],
    ['a revision with a reason of two lines', `${HEAD}\n[Plan revision: {"reason":"a\\nb","summary":["s"]}]\ng [pending] T`],
    [
      'a revision with a reason of 241 code points',
      `${HEAD}\n[Plan revision: {"reason":"${'é'.repeat(241)}","summary":["s"]}]\ng [pending] T`,
    ],
    [
      'a revision with nine items',
      `${HEAD}\n[Plan revision: {"reason":"r","summary":${JSON.stringify(Array(9).fill('s'))}}]\ng [pending] T`,
    ],
    ['a revision with an empty item', `${HEAD}\n[Plan revision: {"reason":"r","summary":[""]}]\ng [pending] T`],
    ['a revision with an item of two lines', `${HEAD}\n[Plan revision: {"reason":"r","summary":["a\\nb"]}]\ng [pending] T`],
    ['a revision with a huge item', `${HEAD}\n[Plan revision: {"reason":"r","summary":["${'s'.repeat(2049)}"]}]\ng [pending] T`],
    ['a wrapper whose close tag is not last', `${HEAD}\n<untrusted_content_1 source="plan">\n</untrusted_content_1>\ng [pending] T`],
  ])('is refused for %s', (_, content) => {
    expect(parsePlan(content, 50)).toBeUndefined();
  });

  it('is refused over the cap of steps and taken at it', () => {
    const rows = ['a', 'b'].map((id) => `${id} [pending] T`).join('\n');
    const content = `${HEAD.replace('0/1', '0/2')}\n${rows}`;
    expect(parsePlan(content, 1)).toBeUndefined();
    expect(parsePlan(content, 2)?.state.steps).toHaveLength(2);
  });
});
