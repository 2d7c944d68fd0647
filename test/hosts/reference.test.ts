import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CLI_POLICIES } from '../../hosts/cli/policy.ts';
import { choose, SCALES } from '../../hosts/policy.ts';
import { POLICIES, policyMatrix } from '../../hosts/policy-matrix.ts';
import { GENERATED, withGenerated } from '../../hosts/reference.ts';

describe('generated documents', () => {
  it.each(Object.entries(GENERATED))('%s is what the tables say; `node hosts/reference.ts` writes it', (page, part) => {
    const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
    expect(text).toBe(withGenerated(text, part()));
  });

  it('refuses a page without marks', () => {
    expect(() => withGenerated('# A page', 'x')).toThrow('lacks the marks');
  });
});

describe('the policy table', () => {
  it('is plain JSON, and each row is called what its key says', () => {
    expect(JSON.parse(JSON.stringify(CLI_POLICIES))).toEqual(CLI_POLICIES);
    for (const [name, policy] of Object.entries(CLI_POLICIES)) expect(policy.surface).toBe(name);
  });

  it('has defaults that are no wider than their ceilings', () => {
    for (const policy of POLICIES) {
      const rank = (rule: string): number => (SCALES.nonInteractive as readonly string[]).indexOf(rule);
      expect(rank(policy.nonInteractive.default)).toBeLessThanOrEqual(rank(policy.nonInteractive.ceiling));
    }
  });

  it('shows a cell as one value where default and ceiling are the same', () => {
    expect(policyMatrix(POLICIES)).toMatch(/\| `run` .* \| terminal \(up to store\) +\| read_only \(up to allow\) .* \| run +\| –/);
  });

  it('lets a wish go up to the ceiling and no further', () => {
    const cell = { default: 'deny', ceiling: 'read_only' } as const;
    const wish = (value?: 'deny' | 'read_only' | 'allow') => choose<'deny' | 'read_only' | 'allow'>(cell, value, SCALES.nonInteractive);
    expect(wish()).toEqual({ value: 'deny', lowered: false });
    expect(wish('read_only')).toEqual({ value: 'read_only', lowered: false });
    expect(wish('allow')).toEqual({ value: 'read_only', lowered: true });
    expect(choose<string>({ default: 'none', ceiling: 'config' }, 'terminal', ['a'])).toEqual({ value: 'none', lowered: true });
  });
});
