import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore } from '../../../adapters/store/index.ts';
import type { StoredRecord } from '../../../ports/session.ts';
import { expectedAnswer, STEPS } from './script.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const KILLS = 10;
const SESSION = '20260101-00000000000000000000000000000001';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-endurance-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Life {
  readonly killed: boolean;
  /** The last step it told of. */
  readonly step: number;
  readonly trims: number;
  readonly end: string;
}

/** One process, killed a moment after it began step `killAt`. */
async function live(state: string, killAt: number): Promise<Life> {
  const child = spawn(process.execPath, [CHILD, state, SESSION], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_code, signal) => resolve(signal)));
  let end = '';
  let rest = '';
  let err = '';
  let step = 0;
  let trims = 0;
  let armed = false;
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (line.startsWith('step ')) step = Number(line.slice('step '.length));
      else if (line.startsWith('trims ')) trims = Number(line.slice('trims '.length));
      else end = line;
    }
    if (armed || step < killAt) return;
    armed = true;
    // Anywhere within a few iterations, also between them.
    setTimeout(() => child.kill('SIGKILL'), Math.random() * 5);
  });
  const signal = await ended;
  if (signal === null && child.exitCode !== 0) throw new Error(`the child failed: ${err}`);
  return { killed: signal === 'SIGKILL', step, trims, end };
}

async function journal(state: string): Promise<readonly StoredRecord[]> {
  const store = await openStore({
    path: join(state, 'odek.db'),
    surface: 'test',
    durability: 'process',
    clock: createSystemClock(),
    ids: createRandomIds(),
  });
  try {
    return (await store.sessions.read(SESSION)).records;
  } finally {
    await store.close();
  }
}

async function unharmed(): Promise<Life> {
  const state = join(folder, 'unharmed');
  await mkdir(state);
  return live(state, Number.POSITIVE_INFINITY);
}

async function killedAgainAndAgain(): Promise<{ readonly lives: readonly Life[]; readonly state: string }> {
  const state = join(folder, 'killed');
  await mkdir(state);
  const lives: Life[] = [];
  for (let life = 1; life <= KILLS; life += 1) {
    const span = STEPS / (KILLS + 1);
    lives.push(await live(state, Math.round(span * (life - 0.5 + Math.random()))));
  }
  lives.push(await live(state, Number.POSITIVE_INFINITY));
  return { lives, state };
}

const calls = (records: readonly StoredRecord[]): number =>
  records.filter(({ record }) => record.kind === 'tool_started' && record.name === 'measure').length;

describe(`a run of ${STEPS.toLocaleString('en')} iterations under a window of 32k`, () => {
  it(`killed and resumed ${KILLS} times, ends with task, plan and digest intact and the answer of the run that was never killed`, async () => {
    const [whole, { lives, state }] = await Promise.all([unharmed(), killedAgainAndAgain()]);
    // Every request of both runs was checked by the child: well formed, within the budget, nothing lost.
    expect(whole).toMatchObject({ killed: false, step: STEPS, end: `ended answer ${expectedAnswer()}` });
    expect(whole.trims).toBeGreaterThan(50);
    expect(lives.map(({ killed }) => killed)).toEqual([...Array<boolean>(KILLS).fill(true), false]);
    expect(lives.at(-1)?.end).toBe(whole.end);
    const records = await journal(state);
    // Nothing that was finished was measured again: only what a kill interrupted.
    expect(calls(records)).toBeGreaterThanOrEqual(STEPS);
    expect(calls(records)).toBeLessThanOrEqual(STEPS + KILLS);
    // A resume pays for no digest again: it begins with the one that was stored.
    const digests = records.filter(({ record }) => record.kind === 'slot' && record.name === 'digest').length;
    expect(digests).toBeGreaterThan(50);
    console.info(
      `endurance: ${whole.trims} trims, killed at ${lives
        .slice(0, -1)
        .map(({ step }) => step)
        .join(', ')}, ${calls(records) - STEPS} calls interrupted`,
    );
  }, 120_000);
});
