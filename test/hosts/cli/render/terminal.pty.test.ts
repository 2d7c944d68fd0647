import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runOnPty } from './pty.ts';

const FIXTURE = fileURLToPath(new URL('./fixture-run.ts', import.meta.url));

describe('a run on a pseudo-terminal', () => {
  it('ends with the answer printed once, the summary, and no status line', async () => {
    const { screen, exit } = await runOnPty([FIXTURE, 'short'], [], { columns: 60 });
    expect(exit).toBe(0);
    expect(screen.foreign()).toEqual([]);
    expect(screen.text()).toBe(
      [
        '═══ Iter 1/90 · m-1 ═══',
        '',
        'Done',
        '',
        'Some bold words, enough of them to be wrapped at the edge of',
        'the screen, and a list:',
        '',
        '• one',
        '• two',
        '',
        '✓ answer · 1 iteration · 0 tool calls · 5 ms',
        '  tokens: 1 in · 2 out',
      ].join('\n'),
    );
  });

  it('leaves nothing doubled and no status line after the window was resized', async () => {
    const steps = [{ wait: 'enough' }, { resize: [34, 20] as const }, { pause: 0.15 }, { resize: [70, 20] as const }];
    const { screen, exit } = await runOnPty([FIXTURE, 'short'], steps, { columns: 60, rows: 20 });
    expect(exit).toBe(0);
    expect(screen.text().match(/enough of/g)).toHaveLength(1);
    expect(screen.text().match(/Done/g)).toHaveLength(1);
    expect(screen.text()).not.toMatch(/iter 1\/90 ·/);
  });

  it('takes the status line away at Ctrl-C and keeps the text that had come', async () => {
    const { screen, exit } = await runOnPty(
      [FIXTURE, 'stuck'],
      [{ wait: 'iter 1/90' }, { wait: 'two' }, { pause: 0.3 }, { send: '\u0003' }],
    );
    expect(exit).toBe(130);
    expect(screen.text()).toContain('• two\n\n⊘ cancelled · 1 iteration');
    expect(screen.text()).not.toMatch(/iter 1\/90 ·/);
  });

  it('takes the status line away when the process exits without finishing the view', async () => {
    const { screen, exit } = await runOnPty([FIXTURE, 'crash'], [{ wait: 'iter 1/90' }, { pause: 0.2 }, { send: '\u0003' }]);
    expect(exit).toBe(130);
    expect(screen.text()).not.toMatch(/iter 1\/90 ·/);
  });
});
