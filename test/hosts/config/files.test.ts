// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the texts of configuration files hold such references.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { expand } from '../../../hosts/config/expand.ts';
import { depthFault, findJsonProblem } from '../../../hosts/config/json-position.ts';
import { CONFIG_KEYS } from '../../../hosts/config/keys.ts';
import { parseSecrets } from '../../../hosts/config/secrets-file.ts';

describe('findJsonProblem', () => {
  it.each([
    ['', 1, 1],
    ['{', 1, 2],
    ['{"a": 1,}', 1, 9],
    ['{"a": 1\n "b": 2}', 2, 2],
    ["{'a': 1}", 1, 2],
    ['{"a": tru}', 1, 7],
    ['{"a": "x\n"}', 1, 7],
    ['[1, 2', 1, 6],
    ['{} {}', 1, 4],
    ['{"a" 1}', 1, 6],
    ['{\n\n  "a": 01\n}', 3, 9],
  ])('finds the fault of %j', (text, line, column) => {
    expect(() => JSON.parse(text)).toThrow();
    expect(findJsonProblem(text)).toMatchObject({ line, column });
  });

  it('finds none in what JSON.parse takes, and one in what it refuses', () => {
    const cut = fc.tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '"', '}', 'x', '\\', ' '));
    fc.assert(
      fc.property(cut, ([json, at, put]) => {
        const text = json.slice(0, at % (json.length + 1)) + put + json.slice(at % (json.length + 1));
        let good = true;
        try {
          JSON.parse(text);
        } catch {
          good = false;
        }
        expect(findJsonProblem(text) === undefined).toBe(good);
      }),
      { numRuns: 500 },
    );
  });

  it('takes time in proportion to a string that does not end', () => {
    expect(findJsonProblem(`{"a": "${'x\\n'.repeat(500_000)}`)).toMatchObject({ line: 1, column: 7 });
  });

  it('tells what JSON.parse takes and what is nested too deeply to be walked through', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (levels: number): string => `${open.repeat(levels)}1${close.repeat(levels)}`;
      expect(depthFault(nested(200))).toBeUndefined();
      for (const levels of [201, 50_000]) expect(depthFault(nested(levels))).toBe('nested deeper than 200 levels');
    }
    expect(depthFault(JSON.stringify({ a: '['.repeat(1000), 'b"\\{': ['{'.repeat(1000)] }))).toBeUndefined();
  });

  it('ends on a text that is nested without end', () => {
    expect(findJsonProblem('['.repeat(100_000))?.says).toContain('nested deeper');
  });
});

describe('parseSecrets', () => {
  it('reads assignments, comments, quotes, export and Windows line ends', () => {
    const { values, warnings } = parseSecrets('# keys\r\nA=1\r\nexport B = "two words"\n\nC=\'x\'\nD=a=b#c\nE=\n', 'f');
    expect([...values]).toEqual([
      ['A', '1'],
      ['B', 'two words'],
      ['C', 'x'],
      ['D', 'a=b#c'],
      ['E', ''],
    ]);
    expect(warnings).toEqual([]);
  });

  it('skips a line that is no assignment and shows none of it', () => {
    const { values, warnings } = parseSecrets('A=1\nsk-secret-without-name\n2B=3\n', '/s');
    expect([...values.keys()]).toEqual(['A']);
    expect(warnings).toEqual([expect.stringContaining('/s:2:'), expect.stringContaining('/s:3:')]);
    expect(warnings.join()).not.toContain('sk-secret');
  });
});

describe('expand', () => {
  it('names what it put in and what was missing', () => {
    expect(expand('$A ${B} $$A $ $1 ${C', (name) => (name === 'A' ? 'a' : undefined))).toEqual({
      text: 'a  $A $ $1 ${C',
      names: ['A', 'B'],
      missing: ['B'],
    });
  });
});

describe('the key table', () => {
  it('has every key, flag and variable once', () => {
    for (const of of ['key', 'flag', 'env'] as const) {
      const names = CONFIG_KEYS.map((spec) => spec[of]).filter((name) => name !== undefined);
      expect(new Set(names).size).toBe(names.length);
    }
  });

  it('says something about every key, and has defaults within their own bounds', () => {
    for (const spec of CONFIG_KEYS) {
      expect(spec.summary).toMatch(/\.$/);
      if (typeof spec.default === 'number') {
        expect(spec.default).toBeGreaterThanOrEqual(spec.min ?? Number.NEGATIVE_INFINITY);
        expect(spec.default).toBeLessThanOrEqual(spec.max ?? Number.POSITIVE_INFINITY);
      }
      if (spec.type === 'choice' && spec.default !== undefined) expect(spec.choices).toContain(spec.default);
    }
  });

  it('has no variable for budgets and prices', () => {
    for (const spec of CONFIG_KEYS.filter(({ key }) => /^limits|_usd$/.test(key))) expect(spec.env).toBeUndefined();
  });
});
