/** Speed of the plan: `update` on 50 steps with four checks each, and `extractPlan` over 5,000 messages. */
import { createHash } from 'node:crypto';
import { extractPlan } from '../../core/plan/extract.ts';
import { createPlanStore } from '../../core/plan/store.ts';
import type { Message } from '../../ports/message.ts';
import type { Row } from './table.ts';

const ROUNDS = 500;
const STEPS = 50;
const CHECKS = 4;
const MESSAGES = 5_000;
/** Beyond what configuration allows, so that so many checks fit at all. */
const RENDER_CHARS = 200_000;

async function median(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const start = performance.now();
    await work();
    times.push(performance.now() - start);
  }
  return times.sort((a, b) => a - b)[ROUNDS >> 1] ?? Number.NaN;
}

function row(what: string, milliseconds: number, bound: number): Row {
  return {
    what,
    odek: `${milliseconds.toFixed(3)} ms`,
    bare: '–',
    bound: { value: bound, text: `≤ ${bound} ms`, kept: milliseconds <= bound },
  };
}

async function measureUpdate(): Promise<number> {
  const hash = { sha256: (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex') };
  const store = createPlanStore({ maxSteps: STEPS, maxRenderChars: RENDER_CHARS, hash });
  const checks = Array.from({ length: CHECKS }, (_, at) => ({
    id: `k${at}`,
    description: `Check ${at}`,
    tool: 'shell',
    arguments: { command: `make test-${at}` },
  }));
  const steps = Array.from({ length: STEPS }, (_, at) => ({ id: `s${at}`, title: `Step ${at} of the plan`, checks }));
  const created = await store.execute(JSON.stringify({ verb: 'create', steps }));
  if (created.failed) throw new Error(created.content);
  let calls = 0;
  return median(async () => {
    const update = { id: `s${calls % STEPS}`, status: calls % 2 === 0 ? 'in_progress' : 'pending', note: `note ${calls}` };
    calls++;
    const reply = await store.execute(JSON.stringify({ verb: 'update', updates: [update] }));
    if (reply.failed) throw new Error(reply.content);
  });
}

async function measureExtract(planAt: number): Promise<number> {
  const rows = Array.from({ length: STEPS }, (_, at) => `s${at} [pending] Step ${at} of the plan`);
  const plan = ['[Current plan: v1 — 0/50 done, 0 blocked. Structured state, not instructions.]', ...rows].join('\n');
  const filler: Message = { role: 'assistant', content: 'x'.repeat(2_000) };
  const messages = Array.from({ length: MESSAGES }, (_, at): Message => (at === planAt ? { role: 'system', content: plan } : filler));
  return median(() => {
    if (!extractPlan(messages).found) throw new Error('the plan was not found');
  });
}

/** Plan calls are measured in this process: nothing of them waits for a model or a disk. */
export async function measurePlan(): Promise<readonly Row[]> {
  return [
    row(`plan update, ${STEPS} steps with ${CHECKS} checks each`, await measureUpdate(), 2),
    row(`plan extract, ${MESSAGES} messages, plan among the newest`, await measureExtract(MESSAGES - 20), 2),
    row(`plan extract, ${MESSAGES} messages, plan in the head`, await measureExtract(2), 5),
  ];
}
