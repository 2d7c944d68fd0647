/** The event path alone: run event → wire form → fan-out → sink. */
import { createHash, randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { createJsonlSink } from '../../adapters/sinks/jsonl.ts';
import { toWireEvent } from '../../core/events/wire.ts';
import { createFanOut } from '../../core/guards/fan-out.ts';
import type { RunEvent, WireEvent } from '../../ports/event.ts';
import { median } from './processes.ts';
import type { Row } from './table.ts';

const EVENTS = 100_000;
/** A run emits in bursts and then waits for the model; so does this. */
const BURST = 500;
const FSYNCED_EVENTS = 300;
const AIM_PER_SECOND = 50_000;

function toolEvent(at: number): RunEvent {
  return {
    type: 'tool_call_started',
    runId: 'b'.repeat(32),
    sessionId: 'bench',
    at: Date.now(),
    iteration: at,
    tool: 'read_file',
    data: {
      call_id: `call_${at}`,
      args_sha256: createHash('sha256').update(String(at)).digest('hex'),
      args_bytes: 24,
      args_summary: { path: `page-${at % 10}.txt`, class: 'safe' },
    },
  };
}

function memorySink(): { readonly events: WireEvent[]; accept(event: WireEvent): Promise<void>; close(): Promise<void> } {
  const events: WireEvent[] = [];
  return {
    events,
    accept: async (event) => {
      events.push(event);
    },
    close: async () => undefined,
  };
}

async function fanOutPerSecond(): Promise<number> {
  const sink = memorySink();
  const fanOut = createFanOut([{ name: 'memory', sink }], { clock: createSystemClock() });
  const events = Array.from({ length: EVENTS }, (_, at) => toolEvent(at));
  const start = performance.now();
  for (let at = 0; at < EVENTS; at += 1) {
    const wire = toWireEvent(events[at] as RunEvent, { includeArgs: false });
    if (wire !== undefined) fanOut.emit(wire);
    if (at % BURST === BURST - 1) await new Promise(setImmediate);
  }
  await fanOut.close();
  const seconds = (performance.now() - start) / 1000;
  if (sink.events.length !== EVENTS) throw new Error(`the sink got ${sink.events.length} of ${EVENTS} events`);
  return EVENTS / seconds;
}

/** Milliseconds a line takes until `accept` resolves, and the same bytes without the fsync. */
async function fsyncCost(): Promise<{ readonly withSync: number; readonly withoutSync: number }> {
  const { open } = await import('node:fs/promises');
  const folder = await mkdtemp(join(tmpdir(), `odek-bench-${randomBytes(4).toString('hex')}-`));
  try {
    const sink = await createJsonlSink(join(folder, 'events.jsonl'));
    const plain = await open(join(folder, 'plain.jsonl'), 'a');
    const times = { sync: [] as number[], plain: [] as number[] };
    for (let at = 0; at < FSYNCED_EVENTS; at += 1) {
      const wire = toWireEvent(toolEvent(at), { includeArgs: false }) as WireEvent;
      const start = performance.now();
      await sink.accept(wire);
      const middle = performance.now();
      await plain.write(`${JSON.stringify(wire)}\n`);
      times.sync.push(middle - start);
      times.plain.push(performance.now() - middle);
    }
    await sink.close();
    await plain.close();
    return { withSync: median(times.sync), withoutSync: median(times.plain) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export async function measureEvents(rounds: number): Promise<Row[]> {
  const rates: number[] = [];
  for (let round = 0; round < rounds; round += 1) rates.push(await fanOutPerSecond());
  const rate = Math.round(median(rates));
  const { withSync, withoutSync } = await fsyncCost();
  return [
    {
      what: 'events through the fan-out into a memory sink',
      odek: `${rate} a second`,
      bare: '–',
      bound: { value: rate, text: `≥ ${AIM_PER_SECOND} a second`, kept: rate >= AIM_PER_SECOND },
    },
    {
      what: 'one event into the JSONL file, until it is on the disk, against the same write without fsync',
      odek: `${withSync.toFixed(3)} ms`,
      bare: `${withoutSync.toFixed(3)} ms`,
      ratio: withSync / withoutSync,
    },
  ];
}
