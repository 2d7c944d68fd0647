import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { createJsonView } from '../../../../hosts/cli/render/json.ts';
import { createPipedView } from '../../../../hosts/cli/render/piped.ts';
import { createView } from '../../../../hosts/cli/render/view.ts';
import { callEnded, callFailed, callStarted, createStage, iteration, message, RUN_STARTED, resultOf, teller, textDelta } from './stage.ts';

const FIXTURE = fileURLToPath(new URL('./fixture-run.ts', import.meta.url));

function pipes() {
  return createStage({ stdoutTty: false, stderrTty: false });
}

describe('the piped view', () => {
  it('says what is wrong with arguments, not only that they are', () => {
    const stage = pipes();
    const tell = teller(createPipedView({ io: stage.io, mode: 'engaging', listed: true }), stage.clock);
    const text = 'error: invalid arguments for tool "read_file":\n- (arguments): missing property path\n- /pth: not known';
    tell(RUN_STARTED, callStarted('a', 'read_file', { pth: 'x' }), ...callFailed('a', 'read_file', 'failed', text));
    expect(stage.stderr()).toContain('tool "read_file": - (arguments): missing property path\n');
  });

  it('puts the answer and one newline on stdout, and plain lines on stderr', async () => {
    const stage = pipes();
    const view = createPipedView({ io: stage.io, mode: 'engaging', listed: true });
    const tell = teller(view, stage.clock);
    tell(RUN_STARTED, iteration(1), textDelta('I look.'), message('I look.', 1, false), callStarted('a', 'glob', { pattern: '*.ts' }));
    tell(...callEnded('a', 'glob', 3, 20), callStarted('b', 'shell', { command: 'x' }), ...callFailed('b', 'shell', 'failed', 'exit 1'));
    tell({ type: 'notice', level: 'warning', text: 'careful \u001b[31m' }, iteration(2), textDelta('**42**', 2), message('**42**\n\n', 2));
    await view.finish(resultOf({ answer: '**42**\n\n', iterations: 2 }));
    expect(stage.stdout()).toBe('**42**\n');
    expect(stage.stderr()).toBe(
      [
        'iteration 1/90 · m-1',
        '  I look.',
        '  ✓ glob *.ts · 3 ms · 20 B',
        '  ✗ shell x · failed · 7 ms',
        '      exit 1',
        'warning: careful \\x1b[31m',
        'iteration 2/90 · m-1',
        '✓ answer · 2 iterations · 2 tool calls · 1.2 s',
        '  tokens: 1.0k in · 50 out',
        '  session: s-1',
        '',
      ].join('\n'),
    );
  });

  it('keeps text of any script byte for byte and makes control characters visible', async () => {
    const stage = pipes();
    const view = createPipedView({ io: stage.io, mode: 'engaging' });
    await view.finish(resultOf({ answer: 'tab\there 漢字 א\u200f 👩\u200d👧\n\u001b[2Jx' }));
    expect(stage.stdout()).toBe('tab\there 漢字 א\u200f 👩\u200d👧\n\\x1b[2Jx\n');
  });

  it('writes nothing to stdout when there is no answer, and the reason to stderr also when quiet', async () => {
    const stage = pipes();
    const view = createPipedView({ io: stage.io, mode: 'off' });
    teller(view, stage.clock)(RUN_STARTED, iteration(1));
    await view.finish(resultOf({ outcome: 'failed', answer: '', error: { code: 'auth', message: 'no key' } }));
    expect(stage.stdout()).toBe('');
    expect(stage.stderr()).toBe('✗ failed · 1 iteration · 0 tool calls · 1.2 s\n  no key (auth)\n  tokens: 1.0k in · 50 out\n');
  });

  it('is silent on stderr when quiet and answered', async () => {
    const stage = pipes();
    const view = createPipedView({ io: stage.io, mode: 'off' });
    teller(view, stage.clock)(RUN_STARTED, iteration(1), callStarted('a', 'glob', {}), ...callEnded('a', 'glob', 1, 1));
    await view.finish(resultOf());
    expect(stage.stderr()).toBe('');
  });

  it('rejects with output_failed when the disk is full', async () => {
    const stage = pipes();
    const stdout = createWriteStream('/dev/full');
    const view = createPipedView({ io: { ...stage.io, stdout }, mode: 'off' });
    await expect(view.finish(resultOf())).rejects.toMatchObject({ code: 'output_failed', value: 'ENOSPC' });
  });

  it('ends quietly when the reader has gone', async () => {
    const stage = pipes();
    const stdout = new Writable({
      write(_chunk, _encoding, done) {
        done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' }));
      },
    });
    const view = createPipedView({ io: { ...stage.io, stdout }, mode: 'off' });
    await expect(view.finish(resultOf())).resolves.toBeUndefined();
  });

  it('ends quietly as a real process whose reader closed the pipe', async () => {
    const child = spawn(process.execPath, [FIXTURE, 'long'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let complaints = '';
    child.stderr.on('data', (chunk) => {
      complaints += String(chunk);
    });
    await once(child.stdout, 'data');
    child.stdout.destroy();
    const [code] = await once(child, 'close');
    expect(code).toBe(0);
    expect(complaints).not.toMatch(/EPIPE|Error|at /);
  });
});

describe('the JSON view', () => {
  it('prints exactly one object with exactly the promised keys', async () => {
    const stage = pipes();
    const view = createJsonView({ io: stage.io, mode: 'engaging' });
    teller(view, stage.clock)(RUN_STARTED, iteration(1), textDelta('hi'));
    await view.finish(resultOf({ answer: 'line 1\nline \u009b2 \u202e', cost_usd: 0.5 }));
    const lines = stage.stdout().split('\n');
    expect(lines).toHaveLength(2);
    expect(lines[0]).not.toMatch(/\u009b|\u202e/);
    const value = JSON.parse(lines[0] as string);
    expect(Object.keys(value)).toEqual(['answer', 'outcome', 'session_id', 'run_id', 'iterations', 'usage', 'cost_usd', 'duration_ms']);
    expect(value.answer).toBe('line 1\nline \u009b2 \u202e');
    expect(stage.stderr()).toContain('iteration 1/90');
  });

  it('says null for an unknown cost and adds the error when there is one', async () => {
    const stage = pipes();
    const view = createJsonView({ io: stage.io, mode: 'off' });
    const error = { code: 'budget_exceeded', message: 'tool_calls is 5, the limit is 5' };
    await view.finish(resultOf({ outcome: 'budget', answer: '', error }));
    expect(JSON.parse(stage.stdout())).toMatchObject({ cost_usd: null, outcome: 'budget', error });
  });
});

describe('the choice of a view', () => {
  const config = { interaction_mode: 'engaging', no_color: false } as const;

  async function shown(
    stage: ReturnType<typeof createStage>,
    flags: Record<string, boolean>,
    env: Record<string, string>,
    no_color = false,
  ): Promise<string> {
    const view = createView({ io: stage.io, clock: stage.clock, flags, config: { ...config, no_color }, env });
    teller(view, stage.clock)(RUN_STARTED, iteration(1));
    stage.clock.advance(100);
    await view.finish(resultOf({ answer: '**x**' }));
    return stage.stdout() + stage.stderr();
  }

  it('is live and coloured on a terminal', async () => {
    const text = await shown(createStage(), {}, { TERM: 'xterm' });
    expect(text).toContain('\u001b[1mx\u001b[0m');
    expect(text).toContain('\u001b[J');
  });

  it.each([
    ['NO_COLOR', {}, { TERM: 'xterm', NO_COLOR: '1' }, false],
    ['no_color', {}, { TERM: 'xterm' }, true],
  ])('has no colour with %s, but is still live', async (_, flags, env, noColor) => {
    const text = await shown(createStage(), flags, env as Record<string, string>, noColor);
    expect(text).not.toMatch(/\[[\d;]*m/);
    expect(text).toContain('\u001b[J');
  });

  it('writes no escape at all to a dumb terminal, into a pipe, or with --json', async () => {
    for (const [stage, flags, env] of [
      [createStage(), {}, { TERM: 'dumb' }],
      [createStage({ stdoutTty: false }), {}, { TERM: 'xterm' }],
      [createStage(), { json: true }, { TERM: 'xterm' }],
    ] as const) {
      expect(await shown(stage, flags, env)).not.toContain('\u001b');
    }
  });
});
