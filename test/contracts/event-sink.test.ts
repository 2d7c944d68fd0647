import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { SINKS, type SinkName } from '../../adapters/sinks/index.ts';
import type { AdapterDefinition, AdapterServices } from '../../ports/adapter.ts';
import { createMemorySink } from '../fakes/event-sink.ts';
import { brokenEventSinks } from './event-sink.broken.ts';
import { type EventSinkHarness, eventSinkSuite } from './event-sink.suite.ts';

const folders: string[] = [];

afterAll(async () => {
  for (const folder of folders) await rm(folder, { recursive: true, force: true });
});

type SinkDefinition = Extract<AdapterDefinition, { port: 'event-sink' }>;

const http = { request: () => Promise.reject(new Error('no network in this suite')), close: async () => {} };
const services: AdapterServices = { clock: createSystemClock(), http, log: () => {} };

async function fileHarness(name: SinkName) {
  const folder = await mkdtemp(join(tmpdir(), 'odek-sink-'));
  folders.push(folder);
  const path = join(folder, 'events');
  const definition: SinkDefinition = (await SINKS[name]()).default;
  const stored = async () => {
    const lines = (await readFile(path, 'utf8')).split('\n');
    return lines.slice(0, -1).map((line) => JSON.parse(line) as unknown);
  };
  return { sink: await definition.create({ path }, services), stored };
}

function registered(name: SinkName): EventSinkHarness {
  return { make: () => fileHarness(name) };
}

const memory: EventSinkHarness = {
  async make() {
    const sink = createMemorySink();
    return { sink, stored: async () => [...sink.events] };
  },
};

/** Sinks that do not store events, and why the suite, which reads them back, does not fit. */
const OTHERWISE: Readonly<Partial<Record<SinkName, string>>> = {
  otel: 'makes sums and spans of events; test/adapters/sinks/otel.test.ts tests the same sentences at a receiver',
};

const storing = (Object.keys(SINKS) as SinkName[]).filter((name) => OTHERWISE[name] === undefined);

const subjects: Readonly<Record<string, EventSinkHarness>> = {
  'the memory sink': memory,
  ...Object.fromEntries(storing.map((name) => [`the ${name} sink`, registered(name)])),
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an event sink`, () => {
    for (const { id, sentence, run } of eventSinkSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an event sink', () => {
  for (const { name, caughtBy, harness } of brokenEventSinks) {
    it(`rejects one that ${name} (${caughtBy})`, async () => {
      const found = eventSinkSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken subject for each of its cases', () => {
    const caught = new Set(brokenEventSinks.map(({ caughtBy }) => caughtBy));
    expect(eventSinkSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
