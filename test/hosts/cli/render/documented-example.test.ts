import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { createView } from '../../../../hosts/cli/render/view.ts';
import {
  callEnded,
  callFailed,
  callStarted,
  createStage,
  iteration,
  message,
  RUN_STARTED,
  resultOf,
  type StageOptions,
  teller,
  textDelta,
} from './stage.ts';

const ANSWER = [
  '## Findings',
  '',
  'One value in `hours.csv` **cannot be right**: Ben has 26 hours on one day.',
  '',
  '1. Ask Ben.',
  '2. Let `tally.js` refuse days over 24 hours, see [the notes](notes/open-points.txt).',
  '',
  '| person | hours |',
  '|---|---:|',
  '| Ada | 38.5 |',
  '| Ben | 52 |',
].join('\n');

/** The run that docs/terminal.md shows. */
async function play(stageOptions: StageOptions, flags: Record<string, boolean>) {
  const stage = createStage({ columns: 90, ...stageOptions });
  const view = createView({
    io: stage.io,
    clock: stage.clock,
    flags,
    config: { interaction_mode: 'engaging', no_color: false },
    env: { TERM: 'xterm' },
    listed: true,
  });
  const tell = teller(view, stage.clock);
  tell(RUN_STARTED, iteration(1), { type: 'reasoning_delta', iteration: 1, text: 'First the data, then the code that reads it.\n' });
  tell(textDelta('I look at both.'), message('I look at both.', 1, false));
  tell(callStarted('a', 'read_file', { path: 'hours.csv' }), callStarted('b', 'shell', { command: 'node src/tally.js' }));
  tell(...callEnded('a', 'read_file', 3, 176), ...callFailed('b', 'shell', 'denied', 'error: operation denied by user: node src/tally.js'));
  stage.clock.advance(1_400);
  tell({ type: 'usage', iteration: 1, input_tokens: 1_900, output_tokens: 62, cost_usd: 0.0031, estimated: false, budget_used: 0.02 });
  tell(iteration(2), textDelta(ANSWER, 2), message(ANSWER, 2));
  await view.finish(
    resultOf({
      answer: ANSWER,
      iterations: 2,
      usage: { input: 4_100, output: 240, estimated: false },
      cost_usd: 0.0064,
      duration_ms: 2_600,
      session_id: '20260301-7f3a',
      run_id: '5c1e0f9a2b7d4c36',
    }),
  );
  return stage;
}

describe('docs/terminal.md', () => {
  it('shows what the views really print', async () => {
    const page = await readFile(new URL('../../../../docs/terminal.md', import.meta.url), 'utf8');
    const terminal = await play({}, {});
    expect(page).toContain(`\n${terminal.screen.text()}\n`);
    const pipes = { stdoutTty: false, stderrTty: false };
    const piped = await play(pipes, {});
    expect(page).toContain(`\n${piped.stderr()}`);
    expect(piped.stdout()).toBe(`${ANSWER}\n`);
    const json = await play(pipes, { json: true });
    const { answer, ...rest } = JSON.parse(json.stdout());
    expect(answer).toBe(ANSWER);
    expect(page).toContain(`\n${JSON.stringify({ answer: '…', ...rest })}\n`);
  });
});
