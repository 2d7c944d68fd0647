import { describe, expect, it } from 'vitest';
import { createShellGrammar } from '../../adapters/shell-grammar/unbash.ts';
import { createSmallGrammar } from '../fakes/shell-grammar.ts';
import { brokenShellGrammars } from './shell-grammar.broken.ts';
import { type ShellGrammarHarness, shellGrammarSuite } from './shell-grammar.suite.ts';

const subjects: Readonly<Record<string, ShellGrammarHarness>> = {
  'the bash grammar': { make: createShellGrammar },
  'the small grammar': { make: createSmallGrammar },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of a shell grammar`, () => {
    for (const { id, sentence, run } of shellGrammarSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

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
