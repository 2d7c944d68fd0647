import { describe, expect, it } from 'vitest';
import { createShellGrammar } from '../../adapters/shell-grammar/unbash.ts';
import { brokenShellGrammars } from './shell-grammar.broken.ts';
import { shellGrammarSuite } from './shell-grammar.suite.ts';

describe('the grammar of bash keeps the contract of a shell grammar', () => {
  for (const { id, sentence, run } of shellGrammarSuite.cases) it(`${id}: ${sentence}`, () => run({ make: createShellGrammar }));
});

describe('the suite of a shell grammar', () => {
  for (const { name, caughtBy, harness } of brokenShellGrammars) {
    it(`rejects one that ${name} (${caughtBy})`, async () => {
      const found = shellGrammarSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken subject for each of its cases', () => {
    const caught = new Set(brokenShellGrammars.map(({ caughtBy }) => caughtBy));
    expect(shellGrammarSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
