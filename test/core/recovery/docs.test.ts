import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRecoveryMonitor } from '../../../core/plan/recovery.ts';
import { createStallMonitor } from '../../../core/plan/stall.ts';
import { consistencyNotice } from '../../../core/recovery/reconcile-stage.ts';
import { UNVERIFIED_PREFIX, verifySettings } from '../../../core/verification/verification-stage.ts';
import { embeddedConfig } from '../../../hosts/embed/config.ts';

const page = readFileSync(new URL('../../../docs/recovery.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/^```(\w+) (.+)\n([\s\S]*?)\n```$/gm)].map(([, , kind = '', text = '']) => ({ kind, text }));
const block = (kind: string): string => blocks.find((each) => each.kind === kind)?.text ?? expect.fail(`no block ${kind}`);

describe('docs/recovery.md', () => {
  it('shows the advice as it is given', () => {
    const shown = blocks.filter(({ kind }) => kind.startsWith('failing '));
    expect(shown).toHaveLength(2);
    for (const { kind, text } of shown) {
      const [, tool = '', result = ''] = /^failing (\w+): (.*)$/.exec(kind) ?? [];
      const monitor = createRecoveryMonitor();
      const hints = [1, 2, 3].map(() => monitor.observe({ tool, outcome: 'failed', result }));
      expect(hints.at(-1)?.text).toBe(text);
    }
  });

  it('shows the hint about repeated calls as it is given', () => {
    const monitor = createStallMonitor(createSha256());
    const call = { tool: 'read_file', arguments: '{}', outcome: 'completed', danger: 'safe' } as const;
    const hints = [1, 2, 3].map(() => monitor.observe([call], undefined));
    expect(hints.at(-1)?.text).toBe(block('repeated read_file'));
  });

  it('shows notice and mark as they are shipped', () => {
    expect(consistencyNotice(['write_file "notes.txt"', 'shell "npm install"'], '1f4c09ab').trim()).toBe(block('notice'));
    expect(UNVERIFIED_PREFIX).toBe(block('mark'));
  });

  it('shows a configuration that turns the pass on', () => {
    const { verify } = embeddedConfig(JSON.parse(block('config')), { stateDir: '/state', workspace: '/work' }, expect.fail);
    expect(verifySettings(verify)).toEqual({ mode: 'hint', model: 'small-model', maxCycles: 1, maxTokens: 1_024 });
  });
});
