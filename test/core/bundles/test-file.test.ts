import { describe, expect, it } from 'vitest';
import { parseTestFile } from '../../../core/bundles/test-file.ts';

describe('the test of a plugin', () => {
  it('is settings and calls with what they give', () => {
    const file = {
      config: { a: 1 },
      tools: [
        { name: 't', input: { b: 1 }, output: 'x' },
        { name: 't', error: 'y' },
      ],
      commands: [{ name: 'c', args: 'd', output: 'x' }],
      hooks: [{ tool: 'shell', arguments: { command: 'ls' }, verdict: { kind: 'abstain' } }],
    };
    expect(parseTestFile(JSON.stringify(file))).toEqual({
      config: { a: 1 },
      cases: [
        { kind: 'tool', name: 't', input: { b: 1 }, output: 'x', fails: false },
        { kind: 'tool', name: 't', input: {}, output: 'y', fails: true },
        { kind: 'command', name: 'c', args: 'd', output: 'x', fails: false },
        { kind: 'hook', name: 'shell', input: { command: 'ls' }, verdict: { kind: 'abstain' } },
      ],
    });
    expect(parseTestFile('{}')).toEqual({ config: {}, cases: [] });
  });

  it.each<[unknown, string]>([
    ['{', 'it is not JSON'],
    [[], 'must be an object'],
    [{ tests: [] }, 'has the key "tests"'],
    [{ config: 1 }, 'config must be an object'],
    [{ tools: {} }, 'must be lists'],
    [{ tools: [1] }, 'a call must be an object'],
    [{ tools: [{ name: 't', output: 'x', skip: true }] }, 'has the key "skip"'],
    [{ tools: [{ name: 't' }] }, 'needs name'],
    [{ commands: [{ name: 'c', args: 1, output: '' }] }, 'needs name, args'],
    [{ hooks: [{ tool: 't' }] }, 'needs tool and verdict'],
    [{ tools: Array.from({ length: 201 }, () => ({ name: 't', output: '' })) }, 'more than 200 calls'],
  ])('is none where it is %j', (given, told) => {
    expect(parseTestFile(typeof given === 'string' ? given : JSON.stringify(given))).toEqual(expect.stringContaining(told));
  });
});
