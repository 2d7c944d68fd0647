import { describe, expect, it } from 'vitest';
import { adoptJson, canonicalJson, jsonString, MAX_JSON_DEPTH, readJson } from '../../../core/plan/json.ts';

const canonical = (text: string): string => {
  const reading = readJson(text);
  return reading.ok ? canonicalJson(reading.value) : `refused: ${reading.problem}`;
};

describe('exact JSON', () => {
  it('keeps number literals, sorts keys by code point and lets the last of two equal keys win', () => {
    expect(canonical('{"b": 1.0, "a": -0, "🚀": 1e5, "\\uffff": [1E+2 , null], "b": 2.50}')).toBe(
      '{"a":-0,"b":2.50,"\uffff":[1E+2,null],"🚀":1e5}',
    );
  });

  it('treats __proto__ as a key like any other', () => {
    expect(canonical('{"__proto__": {"a": 1}}')).toBe('{"__proto__":{"a":1}}');
  });

  it.each([
    '',
    '{',
    '[1,]',
    '{"a":1,}',
    '01',
    '+1',
    '.5',
    '1.',
    'NaN',
    "{'a':1}",
    '"\n"',
    '"\\x"',
    '"open',
    '{a:1}',
    'true false',
    '\u00a01',
  ])('%j is refused with a position or the end', (text) => {
    expect(canonical(text)).toMatch(/^refused: .*offset \d+/);
  });

  it(`refuses nesting deeper than ${MAX_JSON_DEPTH}, in text and in values`, () => {
    const fits = '['.repeat(MAX_JSON_DEPTH) + ']'.repeat(MAX_JSON_DEPTH);
    expect(canonical(fits)).toBe(fits);
    expect(canonical('['.repeat(100_000))).toContain('nesting deeper than 64');
    const circle: unknown[] = [];
    circle.push(circle);
    expect(adoptJson(circle)).toEqual({ ok: false, problem: 'nesting deeper than 64' });
  });

  it('adopts parsed values and refuses what is not JSON', () => {
    const reading = adoptJson({ a: [1, 'x', null, true] });
    expect(reading.ok && canonicalJson(reading.value)).toBe('{"a":[1,"x",null,true]}');
    for (const value of [undefined, 1n, Number.NaN, () => 1, { a: undefined }]) expect(adoptJson(value).ok).toBe(false);
  });

  it('escapes markup and the name of the untrusted wrapper, and stays the same string', () => {
    const text = '<a>&b untrusted_content é \ud800';
    expect(jsonString(text)).toBe('"\\u003ca\\u003e\\u0026b untrusted\\u005fcontent é \\ud800"');
    expect(JSON.parse(jsonString(text))).toBe(text);
  });
});
