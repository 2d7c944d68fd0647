import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import calc from '../../../plugins/calc/index.ts';
import type { ToolResult } from '../../../ports/plugin.ts';

function tool() {
  const registry = createToolRegistry();
  calc.apply({ tools: registry.registrar('calc') }, {});
  return registry;
}

async function call(expression: string) {
  const exec = { signal: new AbortController().signal, callId: 'c', args: {}, workspace: '/', dataDir: '/' };
  const result = (await tool()
    .get('math_eval')
    ?.spec.execute({ expression } as never, exec)) as ToolResult;
  return JSON.parse(result.content) as { readonly result?: number; readonly error?: string };
}

describe('math_eval', () => {
  it('is told to a model in at most 600 bytes and touches nothing', () => {
    expect(Buffer.byteLength(JSON.stringify(tool().definitions()[0]))).toBeLessThanOrEqual(600);
    expect(
      tool()
        .get('math_eval')
        ?.spec.effects?.({ expression: '1' } as never),
    ).toEqual({});
  });

  it.each([
    ['1+2*3', 7],
    [' ( 1 + 2 ) * 3 ', 9],
    ['10 - 4 - 3', 3],
    ['2 / 4 / 2', 0.25],
    ['17 % 5', 2],
    ['-17 % 5', -2],
    ['7.5 % 2', 1.5],
    ['-(2 + 3)', -5],
    ['2 - -3', 5],
    ['--+-4', -4],
    ['.5 + 1. + 1e3 + 2E-1', 1001.7],
    ['0 * -1', 0],
  ])('calculates %s', async (expression, result) => {
    expect(await call(expression)).toEqual({ result });
  });

  it('agrees with the language on any expression', async () => {
    const operand = fc
      .oneof(fc.integer({ min: 0, max: 1000 }), fc.double({ min: 0.001, max: 1000, noNaN: true }))
      .map((value) => `${value}`);
    const expressions = fc.letrec<{ expression: string }>((tie) => ({
      expression: fc.oneof(
        { maxDepth: 5 },
        operand,
        fc.tuple(tie('expression'), fc.constantFrom('+', '-', '*'), tie('expression')).map(([a, sign, b]) => `(${a}${sign}${b})`),
        fc.tuple(tie('expression'), fc.constantFrom('/', '%'), operand).map(([a, sign, b]) => `(${a}${sign}(${b}+1))`),
      ),
    })).expression;
    await fc.assert(
      fc.asyncProperty(expressions, async (expression) => {
        const expected = new Function(`return ${expression.replaceAll('--', '- -')}`)() as number;
        expect((await call(expression)).result).toBe(expected === 0 ? 0 : expected);
      }),
    );
  });

  it.each([
    ['', 'the expression ends'],
    ['1 +', 'the expression ends'],
    ['(1', 'the expression ends'],
    ['1)', '")" at character 2'],
    ['1 2', '"2" at character 3'],
    ['2 ** 3', '"*" at character 4'],
    ['2 ^ 3', '"^" at character 3'],
    ['process.exit()', '"p" at character 1'],
    ['1;2', '";" at character 2'],
    ['1/0', 'division by zero at character 2'],
    ['5 % (2-2)', 'division by zero'],
    ['1e308 * 10', 'a value is beyond'],
    ['1e999', 'a value is beyond'],
    ['😀', '"😀" at character 1'],
  ])('says what is wrong with %s', async (expression, error) => {
    expect((await call(expression)).error).toContain(error);
  });

  it('nests 128 deep and no deeper', async () => {
    const nested = (depth: number) => `${'('.repeat(depth)}1${')'.repeat(depth)}`;
    expect(await call(nested(128))).toEqual({ result: 1 });
    expect((await call(nested(129))).error).toContain('more than 128 deep');
    expect((await call('('.repeat(60_000))).error).toContain('more than 128 deep');
  });

  it('takes 64 KiB and no byte more, signs without end included', async () => {
    expect(await call(`${'-'.repeat(65_535)}1`)).toEqual({ result: -1 });
    expect((await call(`${'-'.repeat(65_536)}1`)).error).toBe('expression has 65537 bytes; at most 65536 are taken');
    expect(await call(`1${'+1'.repeat(32_000)}`)).toEqual({ result: 32_001 });
  });
});
