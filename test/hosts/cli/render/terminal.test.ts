import { describe, expect, it } from 'vitest';
import { loadLexer } from '../../../../hosts/cli/render/markdown-stream.ts';
import { createTerminalView, type TerminalViewOptions } from '../../../../hosts/cli/render/terminal.ts';
import type { RunEventBody } from '../../../../ports/event.ts';
import {
  callEnded,
  callFailed,
  callStarted,
  createStage,
  iteration,
  message,
  RUN_STARTED,
  resultOf,
  type Stage,
  type StageOptions,
  teller,
  textDelta,
} from './stage.ts';

const lexer = await loadLexer();

async function open(options: Partial<TerminalViewOptions> & StageOptions = {}) {
  const stage = createStage(options);
  const view = createTerminalView({
    io: stage.io,
    clock: stage.clock,
    color: true,
    mode: 'engaging',
    loadLexer: async () => lexer,
    ...options,
  });
  const tell = teller(view, stage.clock);
  // The parser arrives with the first text; from here on events are shown as they come.
  tell(message(''));
  await Promise.resolve();
  await Promise.resolve();
  return { stage, view, tell };
}

const MARKDOWN = [
  '# A heading',
  '',
  'A paragraph that is **long enough** to be wrapped at the edge of a narrow screen, with `code`.',
  '',
  '- one **bold**',
  '- two',
  '  - nested',
  '',
  '```ts',
  'const a = 1;',
  '',
  'const b = 2;',
  '```',
  '',
  '| name | size |',
  '|---|---:|',
  '| 漢字 | 12 |',
  '',
  'The end, see [docs](https://example.test/a).',
].join('\n');

async function shownWhen(stage: Stage, parts: readonly string[], view: Awaited<ReturnType<typeof open>>): Promise<string> {
  view.tell(RUN_STARTED, iteration(1));
  for (const part of parts) {
    view.tell(textDelta(part));
    stage.clock.advance(70);
  }
  view.tell(message(MARKDOWN));
  await view.view.finish(resultOf({ answer: MARKDOWN }));
  return stage.screen.text();
}

describe('the terminal view', () => {
  it('shows the same screen however the answer was cut into pieces', async () => {
    const whole = await open({ columns: 40 });
    const expected = await shownWhen(whole.stage, [MARKDOWN], whole);
    for (const size of [1, 3, 7, 40]) {
      const cut = await open({ columns: 40 });
      const parts = [...MARKDOWN].reduce<string[]>((all, character, index) => {
        if (index % size === 0) all.push('');
        all[all.length - 1] += character;
        return all;
      }, []);
      const shown = await shownWhen(cut.stage, parts, cut);
      expect(shown.replace(/\d+ ms|\d+\.\d s/g, 'T')).toBe(expected.replace(/\d+ ms|\d+\.\d s/g, 'T'));
      expect(cut.stage.screen.foreign()).toEqual([]);
    }
  });

  it('renders headings, lists with inline markup, code, tables and links', async () => {
    const opened = await open({ columns: 40 });
    const shown = await shownWhen(opened.stage, [MARKDOWN], opened);
    expect(shown).toContain('\nA heading\n\nA paragraph that is long enough to be\nwrapped at the edge of a narrow screen,\nwith code.\n');
    expect(shown).toContain('\n• one bold\n• two\n  ◦ nested\n');
    expect(shown).toContain('\n```ts\nconst a = 1;\n\nconst b = 2;\n```\n');
    expect(shown).toContain('\nname │ size\n─────┼─────\n漢字 │   12\n');
    expect(shown).toContain('\nThe end, see docs\n(https://example.test/a).\n');
  });

  it('shows the unfinished block below and replaces it when it is complete', async () => {
    const { stage, view, tell } = await open();
    tell(RUN_STARTED, iteration(1), textDelta('some **bo'));
    stage.clock.advance(70);
    expect(stage.screen.text()).toContain('some **bo');
    expect(stage.stdout()).toBe('');
    tell(textDelta('ld** text\n\nnext'));
    stage.clock.advance(70);
    expect(stage.screen.lines().filter((line) => line.includes('some'))).toEqual(['some bold text']);
    expect(stage.screen.text()).toContain('next');
    await view.finish(resultOf({ answer: 'some **bold** text\n\nnext' }));
    expect(stage.screen.text().match(/next/g)).toHaveLength(1);
  });

  it('keeps a block that is taller than the screen whole and prints it once', async () => {
    const { stage, view, tell } = await open({ columns: 30, rows: 6 });
    const words = Array.from({ length: 120 }, (_, index) => `word${index}`).join(' ');
    tell(RUN_STARTED, iteration(1));
    for (const word of words.split(/(?<= )/)) {
      tell(textDelta(word));
      stage.clock.advance(65);
    }
    await view.finish(resultOf({ answer: words }));
    const seen = stage.screen.text().match(/word\d+/g);
    expect(seen).toEqual(words.split(' '));
  });

  it('dims reasoning behind one cue and sets the answer apart by an empty line', async () => {
    const { stage, view, tell } = await open();
    tell(RUN_STARTED, iteration(1));
    for (const text of ['I should ', 'look.\nThen', ' answer.']) tell({ type: 'reasoning_delta', iteration: 1, text });
    tell(textDelta('Yes.'), message('Yes.'));
    await view.finish(resultOf({ answer: 'Yes.' }));
    expect(stage.screen.text()).toContain('═══ Iter 1/90 · m-1 ═══\n🧠 I should look.\nThen answer.\n\nYes.\n\n✓ answer');
    expect(stage.stderr()).toContain('\u001b[2m🧠 I should look.\u001b[0m');
    expect(stage.stdout()).toBe('Yes.\n');
  });

  it('prints an answer that was not streamed, and one that was streamed only once', async () => {
    const buffered = await open();
    buffered.tell(RUN_STARTED, iteration(1), message('All of it.'));
    await buffered.view.finish(resultOf({ answer: 'All of it.' }));
    expect(buffered.stage.stdout()).toBe('All of it.\n');

    const partial = await open();
    partial.tell(RUN_STARTED, iteration(1), textDelta('Working.'), message('Working.', 1, false));
    await partial.view.finish(resultOf({ outcome: 'partial', answer: '[Iteration budget reached — partial summary]\n\nHalf done.' }));
    expect(partial.stage.stdout()).toBe('Working.\n\n[Iteration budget reached — partial summary]\n\nHalf done.\n');
  });

  it('shows one line a call, paired by its id, with outcome, duration and size', async () => {
    const { stage, view, tell } = await open();
    tell(
      RUN_STARTED,
      iteration(1),
      callStarted('a', 'read_file', { path: 'src/a.ts' }),
      callStarted('b', 'shell', { command: 'npm   test\n' }),
    );
    stage.clock.advance(70);
    expect(stage.screen.text()).toContain('  ⋯ 📖 read_file src/a.ts\n  ⋯ 💻 shell npm test');
    tell(...callFailed('b', 'shell', 'failed', 'exit 1\nmore'), ...callEnded('a', 'read_file', 12, 3_400));
    stage.clock.advance(70);
    expect(stage.screen.text()).not.toContain('⋯');
    tell(callStarted('c', 'shell', { command: 'rm x' }), ...callFailed('c', 'shell', 'denied', 'error: operation denied by user: rm x'));
    tell(callStarted('d', 'search_files', { pattern: 'TODO', path: 'src' }));
    await view.finish(resultOf({ outcome: 'cancelled', answer: '', error: { code: 'cancelled', message: 'the run was cancelled' } }));
    const shown = stage.screen.text();
    expect(shown).toContain('  ✗ 💻 shell npm test · failed · 7 ms\n      exit 1\n  ✓ 📖 read_file src/a.ts · 12 ms · 3.4 kB\n');
    expect(shown).toContain('  ⊘ 💻 shell rm x · denied');
    expect(shown).toContain('  ⊘ 🔍 search_files TODO in src · cancelled\n');
    expect(shown).toContain('⊘ cancelled · 1 iteration · 4 tool calls · 1.2 s\n  the run was cancelled (cancelled)');
  });

  it('keeps a status line at the bottom, at most eight times a second, and leaves none behind', async () => {
    const { stage, view, tell } = await open();
    tell(RUN_STARTED, iteration(1));
    stage.clock.advance(70);
    const usage: RunEventBody = {
      type: 'usage',
      iteration: 1,
      input_tokens: 12_345,
      output_tokens: 678,
      cost_usd: 0.0123,
      estimated: false,
      budget_used: 0.34,
    };
    tell(usage);
    stage.clock.advance(2_000);
    expect(stage.screen.lines().at(-1)).toBe('iter 1/90 · 12.3k in · 678 out · $0.0123 · budget 34% · 2.0 s');
    const before = stage.stderr();
    for (let count = 0; count < 1_000; count += 1) {
      tell({ ...usage, output_tokens: 700 + count });
      stage.clock.advance(1);
    }
    const texts = new Set(
      stage
        .stderr()
        .slice(before.length)
        .match(/[\d.]+k? out/g),
    );
    expect(texts.size).toBeGreaterThan(2);
    expect(texts.size).toBeLessThanOrEqual(9);
    await view.finish(resultOf());
    expect(stage.screen.text()).not.toContain('budget 34%');
  });

  it('takes the status line away when it is closed without a result', async () => {
    const { stage, view, tell } = await open();
    tell(RUN_STARTED, iteration(1));
    stage.clock.advance(70);
    expect(stage.screen.text()).toContain('iter 1/90 ·');
    view.close();
    view.close();
    stage.clock.advance(5_000);
    expect(stage.screen.text()).toBe('═══ Iter 1/90 · m-1 ═══');
  });

  it('leaves the screen alone while an approval waits, and shows afterwards what came meanwhile', async () => {
    const { stage, view, tell } = await open();
    const item = { callId: 'a', tool: 'shell', class: 'unknown', resource: 'x', reason: 'y' } as const;
    tell(RUN_STARTED, iteration(1), callStarted('b', 'glob', { pattern: '*' }));
    stage.clock.advance(70);
    const facts = { id: 'r1', sessionId: 's', class: 'unknown', allowTrust: false, friction: false, timeoutMs: 1 } as const;
    tell({ type: 'approval_asked', request: { ...facts, items: [item] } });
    const quiet = stage.stderr().length;
    expect(stage.screen.text()).toBe('═══ Iter 1/90 · m-1 ═══');
    tell(...callEnded('b', 'glob', 5, 10));
    stage.clock.advance(5_000);
    expect(stage.stderr()).toHaveLength(quiet);
    stage.io.stderr.write('allow? yes\n');
    tell({ type: 'approval_answered', request_id: 'r1', verdict: { decision: 'approve', by: 'terminal' } });
    stage.clock.advance(70);
    expect(stage.screen.text()).toContain('allow? yes\n  ✓ 📂 glob * · 5 ms · 10 B\niter 1/90');
    await view.finish(resultOf());
  });

  it('wraps and clears rightly after the terminal became narrower or wider', async () => {
    const { stage, view, tell } = await open({ columns: 80, rows: 24 });
    tell(RUN_STARTED, iteration(1), {
      type: 'usage',
      iteration: 1,
      input_tokens: 12_345,
      output_tokens: 678,
      cost_usd: 0.5,
      estimated: false,
      budget_used: 0.5,
    });
    tell(textDelta('first block\n\nan unfinished block that will not fit on one line of a narrow screen'));
    stage.clock.advance(200);
    stage.resize(30, 24);
    stage.clock.advance(200);
    stage.resize(60, 24);
    stage.clock.advance(200);
    await view.finish(resultOf({ answer: 'first block\n\nan unfinished block that will not fit on one line of a narrow screen' }));
    const shown = stage.screen.text();
    expect(shown.match(/an unfinished/g)).toHaveLength(1);
    expect(shown.match(/first block/g)).toHaveLength(1);
    expect(shown).not.toContain('iter 1/90 ·');
  });

  it('gives a hostile model or tool no way to steer the terminal', async () => {
    const { stage, view, tell } = await open({ mode: 'verbose' });
    const evil = '\u001b[2J\u001b]0;title\u0007\u009b31m\rback \u0008\u202eesrever &#27;[31m `\u001b[1A`';
    tell(RUN_STARTED, iteration(1), { type: 'reasoning_delta', iteration: 1, text: `${evil}\n` }, textDelta(evil));
    tell({ type: 'notice', level: 'warning', text: evil }, callStarted(evil, evil, { command: evil }));
    tell(
      ...callFailed(evil, evil, 'failed', evil),
      textDelta('[x](javascript:\u001b[2J)\n\n```\u001b[3J\ncode \u001b[2J\n```\n\n- \u001b[H item'),
    );
    stage.clock.advance(200);
    await view.finish(resultOf({ outcome: 'failed', answer: '', session_id: evil, error: { code: evil, message: evil } }));
    expect(stage.screen.foreign()).toEqual([]);
    expect(stage.screen.text()).toContain('\\x1b[2J\\x1b]0;title\\x07\\x9b31m');
    expect(stage.screen.text()).toContain('\\u202eesrever');
    expect(stage.screen.text()).not.toContain('\u202e');
  });

  it('writes no escape where colour is off and the cursor cannot be moved', async () => {
    const { stage, view, tell } = await open({ color: false, live: false });
    tell(RUN_STARTED, iteration(1), textDelta(MARKDOWN), ...callEnded('a', 'glob', 1, 1));
    stage.clock.advance(5_000);
    await view.finish(resultOf({ answer: MARKDOWN }));
    expect(stage.stdout() + stage.stderr()).not.toContain('\u001b');
    expect(stage.stdout()).toContain('# A heading\n');
    expect(stage.stdout()).toContain('with `code`.');
  });

  it('keeps escapes out of stderr when that is a file, and the answer on stdout', async () => {
    const { stage, view, tell } = await open({ stderrTty: false });
    tell(RUN_STARTED, iteration(1), ...callEnded('a', 'glob', 1, 1), textDelta('**x**'));
    stage.clock.advance(5_000);
    await view.finish(resultOf({ answer: '**x**' }));
    expect(stage.stderr()).not.toContain('\u001b');
    expect(stage.screen.text()).toBe('x');
  });

  it('shows the answer and nothing else in mode "off", but tells of a warning and of a failure', async () => {
    const { stage, view, tell } = await open({ mode: 'off' });
    tell(RUN_STARTED, iteration(1), callStarted('a', 'glob', {}), ...callEnded('a', 'glob', 1, 1), {
      type: 'reasoning_delta',
      iteration: 1,
      text: 'hm\n',
    });
    tell(textDelta('x'), message('x'));
    stage.clock.advance(2_000);
    await view.finish(resultOf({ answer: 'x' }));
    expect(stage.screen.text()).toBe('x');

    const failing = await open({ mode: 'off' });
    failing.tell(RUN_STARTED, { type: 'notice', level: 'warning', text: 'look out' });
    await failing.view.finish(resultOf({ outcome: 'failed', answer: '', error: { code: 'rate_limited', message: 'too many requests' } }));
    expect(failing.stage.screen.text()).toContain('· look out\n');
    expect(failing.stage.screen.text()).toContain('too many requests (rate_limited)');
  });

  it('ends a run over budget with the limit, what was used of it, and the session', async () => {
    const { stage, view, tell } = await open({ listed: true });
    tell(RUN_STARTED, iteration(1), { type: 'budget_exceeded', data: { limit_name: 'cost_usd', observed: 0.52, limit: 0.5 } });
    const error = { code: 'budget_exceeded', message: 'budget exceeded' };
    await view.finish(
      resultOf({
        outcome: 'budget',
        answer: '',
        cost_usd: 0.52,
        error,
        usage: { input: 5, output: 6, cache_read: 2_000, estimated: true },
      }),
    );
    expect(stage.screen.text()).toContain(
      [
        '✗ budget used up · 1 iteration · 0 tool calls · 1.2 s',
        '  limit: cost, used $0.5200 of $0.5000',
        '  tokens: 5 in · 6 out · 2.0k read (estimated) · $0.5200',
        '  session: s-1',
      ].join('\n'),
    );
  });

  it('keeps the order of events while the markdown parser is still loading', async () => {
    const stage = createStage();
    let arrive: () => void = () => undefined;
    const slow = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const view = createTerminalView({
      io: stage.io,
      clock: stage.clock,
      color: true,
      mode: 'engaging',
      loadLexer: () => slow.then(() => lexer),
    });
    const tell = teller(view, stage.clock);
    tell(
      RUN_STARTED,
      iteration(1),
      textDelta('before'),
      message('before', 1, false),
      callStarted('a', 'glob', {}),
      ...callEnded('a', 'glob', 1, 1),
    );
    const finished = view.finish(resultOf({ answer: 'after' }));
    arrive();
    await finished;
    const shown = stage.screen.text();
    expect(shown.indexOf('before')).toBeGreaterThan(0);
    expect(shown.indexOf('glob')).toBeGreaterThan(shown.indexOf('before'));
    expect(shown.indexOf('after')).toBeGreaterThan(shown.indexOf('glob'));
  });

  it('shows the source of an answer when the markdown parser cannot be loaded', async () => {
    const stage = createStage();
    const broken = async () => {
      throw new Error('no such module');
    };
    const view = createTerminalView({ io: stage.io, clock: stage.clock, color: true, mode: 'engaging', loadLexer: broken });
    teller(view, stage.clock)(RUN_STARTED, iteration(1), textDelta('**x** \u001b[2J'));
    await view.finish(resultOf({ answer: '**x** \u001b[2J' }));
    expect(stage.stdout()).toBe('**x** \\x1b[2J\n');
  });
});
