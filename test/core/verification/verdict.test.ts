import { describe, expect, it } from 'vitest';
import { parseVerdict } from '../../../core/verification/verdict.ts';

describe('a verdict', () => {
  it.each([
    ['{"verdict":"pass","reasons":[],"missing":[]}', { pass: true, reasons: [], missing: [] }],
    ['{"verdict":"fail","reasons":["wrong file"],"missing":["tests"]}', { pass: false, reasons: ['wrong file'], missing: ['tests'] }],
    ['```json\n{"verdict": "PASS"}\n```', { pass: true, reasons: [], missing: [] }],
    ['Here it is: {"verdict":"fail"} as asked.', { pass: false, reasons: [], missing: [] }],
    ['{"verdict":"fail","reasons":["a\\nb", 7, "", null],"missing":"x"}', { pass: false, reasons: ['a b'], missing: [] }],
  ])('is read from %j', (reply, verdict) => {
    expect(parseVerdict(reply)).toEqual(verdict);
  });

  it.each(['', 'pass', '{"verdict":"maybe"}', '{"verdict":true}', '[]', '{"verdict":"pass"', '}{', 'null', '{"a":1} {"verdict":"pass"}'])(
    'is not read from %j',
    (reply) => {
      expect(parseVerdict(reply)).toBeUndefined();
    },
  );

  it('keeps at most ten lines of 300 characters', () => {
    const verdict = parseVerdict(JSON.stringify({ verdict: 'fail', reasons: Array.from({ length: 50 }, () => 'x'.repeat(1_000)) }));
    expect(verdict?.reasons.map((line) => line.length)).toEqual(Array(10).fill(300));
  });
});
