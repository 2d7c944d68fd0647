import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { foldJournal } from '../../../core/transcript/fold.ts';
import type { Message } from '../../../ports/message.ts';
import { STEPS, settledMarks } from './script.ts';

const CHILD = fileURLToPath(new URL('./child.ts', import.meta.url));
const KILLS = 200;
/** Two at a time, so that the machine is busy and instants spread. */
const LANES = 2;

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-crash-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

interface Life {
  readonly lines: readonly string[];
  readonly killed: boolean;
}

/** One process, killed `afterMs` after it was ready, unless it ended before. */
async function live(state: string, session: string, afterMs: number | undefined): Promise<Life> {
  const child = spawn(process.execPath, [CHILD, state, session], { stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = new Promise<NodeJS.Signals | null>((resolve) => child.once('close', (_code, signal) => resolve(signal)));
  let out = '';
  let err = '';
  let armed = false;
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdout.on('data', (chunk) => {
    out += chunk;
    if (afterMs === undefined || armed || !out.includes('ready\n')) return;
    armed = true;
    setTimeout(() => child.kill('SIGKILL'), afterMs);
  });
  const signal = await ended;
  if (signal === null && child.exitCode !== 0) throw new Error(`the child failed: ${err}`);
  // The last line of a killed process may be cut.
  return {
    lines: out
      .slice(0, out.lastIndexOf('\n') + 1)
      .split('\n')
      .filter(Boolean),
    killed: signal === 'SIGKILL',
  };
}

async function transcript(state: string, session: string): Promise<readonly Message[]> {
  const store = await openStore({
    path: join(state, 'odek.db'),
    surface: 'test',
    durability: 'process',
    clock: createSystemClock(),
    ids: createRandomIds(),
  });
  try {
    return foldJournal((await store.sessions.read(session)).records).entries.map(({ message }) => message);
  } finally {
    await store.close();
  }
}

interface Tally {
  kills: number;
  unknown: number;
  resumed: number;
}

/** Kills and resumes one session until it ends, and checks every promise on what it left. */
async function torture(state: string, session: string, tally: Tally): Promise<void> {
  const told: string[] = [];
  for (let life = 0; ; life += 1) {
    const { lines, killed } = await live(state, session, tally.kills < KILLS ? Math.random() * 60 : undefined);
    told.push(...lines.filter((line) => line.startsWith('completed ')).map((line) => line.slice('completed '.length)));
    if (killed) tally.kills += 1;
    if (life > 0) tally.resumed += 1;
    if (!killed) {
      expect(lines.at(-1)).toBe(`ended answer all ${STEPS} steps are settled`);
      break;
    }
  }
  const messages = await transcript(state, session);
  const results = messages.filter((message) => message.role === 'tool');
  const effects = (await readFile(join(state, 'effects.log'), 'utf8')).split('\n').filter(Boolean);
  const marks = effects.map((effect) => effect.split('#')[0] ?? '');

  // Executed at most once, whatever was killed when.
  expect(new Set(marks).size).toBe(marks.length);
  // Whatever was told as completed is in the transcript as completed.
  const completed = new Set(results.filter((result) => result.outcome === 'completed').map((result) => result.callId));
  for (const id of told) expect(completed).toContain(id);
  // A mark that was left is told to the model as completed or as unknown, never as not executed.
  const settled = settledMarks(messages);
  for (const mark of marks) expect(settled).toContain(mark);
  // What the model was told is completed really happened.
  for (const id of completed) expect(effects).toContain(id);
  // Every call has exactly one result, behind it.
  const called = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.id) : []));
  expect(results.map((result) => result.callId)).toEqual(called);
  tally.unknown += results.filter((result) => result.outcome === 'unknown').length;
}

describe('a run that is killed with SIGKILL at random instants', () => {
  it(`survives ${KILLS} kills: nothing finished is lost, nothing runs twice, the interrupted is reported as unknown`, async () => {
    const tally: Tally = { kills: 0, unknown: 0, resumed: 0 };
    let next = 0;
    const lane = async (name: number): Promise<void> => {
      const { mkdir } = await import('node:fs/promises');
      while (tally.kills < KILLS) {
        next += 1;
        const state = join(folder, `lane${name}-${next}`);
        await mkdir(state);
        await torture(state, `20260101-${String(next).padStart(32, '0')}`, tally);
      }
    };
    await Promise.all(Array.from({ length: LANES }, (_, name) => lane(name)));
    expect(tally.kills).toBeGreaterThanOrEqual(KILLS);
    expect(tally.resumed).toBeGreaterThanOrEqual(KILLS);
    // Some kills must have hit a running tool, or the test would prove nothing about it.
    expect(tally.unknown).toBeGreaterThan(0);
    console.info(`crash test: ${tally.kills} kills, ${tally.resumed} resumed lives, ${tally.unknown} calls reported unknown`);
  }, 300_000);
});
