import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { completionNotice } from '../../../core/plan/completion.ts';
import type { FinishedCall } from '../../../core/plan/evidence.ts';
import { renderPlanLines } from '../../../core/plan/lines.ts';
import {
  MAX_ARGUMENT_BYTES,
  MAX_CHECKS,
  MAX_DESCRIPTION,
  MAX_ID_BYTES,
  MAX_OPERATIONS,
  MAX_REASON,
  MAX_TITLE_BYTES,
  STEP_CEILING,
} from '../../../core/plan/state.ts';
import { MAX_CALL_CHARS } from '../../../core/plan/verbs.ts';
import { verificationTable } from '../../../hosts/cli/plan/checks.ts';
import { recordedStore } from './fixture.ts';

const page = readFileSync(new URL('../../../docs/planning.md', import.meta.url), 'utf8');

interface Block {
  readonly kind: string;
  readonly text: string;
}

const blocks: readonly Block[] = [...page.matchAll(/^```(\w+ \w+)\n(.*?)\n```$/gms)].map(([, kind = '', text = '']) => ({ kind, text }));

function block(kind: string): string {
  const found = blocks.filter((each) => each.kind === kind);
  expect(found).toHaveLength(1);
  return found[0]?.text ?? '';
}

describe('docs/planning.md', () => {
  it('shows calls, outcomes and replies exactly as they are', async () => {
    const { store } = recordedStore();
    let reply = { content: '', failed: false };
    let compared = 0;
    for (const { kind, text } of blocks) {
      if (kind === 'json call') reply = await store.execute(text);
      if (kind === 'json outcome') store.record(JSON.parse(text) as FinishedCall, store.epoch());
      if (kind !== 'text reply' && kind !== 'text refused') continue;
      expect(reply).toEqual({ content: text, failed: kind === 'text refused' });
      compared++;
    }
    expect(compared).toBe(5);
  });

  it('shows the lines as surfaces print them', () => {
    const steps = [
      { id: 's1', title: 'Reproduce the bug', status: 'done' },
      { id: 's2', title: 'Fix the session expiry', status: 'in_progress' },
      { id: 's3', title: 'Update the client', status: 'blocked', note: 'waiting for the new schema' },
    ] as const;
    const view = { found: true, version: 4, steps, total: 3, done: 1, blocked: 1, allDone: false };
    expect(renderPlanLines(view, { maxChars: 3800, escape: (text) => text }).join('\n')).toBe(block('text lines'));
  });

  it('shows the table of a verification as it is printed', () => {
    const check = { description: '', tool: 'shell', arguments: '{}', recorded: 'passed' } as const;
    const rows = [
      { ...check, step: 'tests', check: 'go-test', now: 'failed' },
      { ...check, step: 'tests', check: 'lint', now: 'passed' },
    ] as const;
    expect(verificationTable(rows).join('\n')).toBe(block('text verify'));
  });

  it('shows the notice of an unverified answer', () => {
    expect(completionNotice(['tests/go-test']).trim()).toBe(block('text notice'));
  });

  it('states the limits that hold', () => {
    const limits = [
      MAX_ID_BYTES,
      MAX_TITLE_BYTES,
      MAX_CHECKS,
      MAX_DESCRIPTION,
      MAX_ARGUMENT_BYTES,
      MAX_REASON,
      MAX_OPERATIONS,
      MAX_CALL_CHARS,
    ];
    const table = page.slice(page.indexOf('## Limits'));
    const stated = [...table.matchAll(/^\| [^|]+ \| ([\d,]+)/gm)].map(([, number = '']) => Number(number.replaceAll(',', '')));
    expect(stated).toEqual(limits);
    expect(page).toContain(`1 to ${STEP_CEILING}`);
  });
});
