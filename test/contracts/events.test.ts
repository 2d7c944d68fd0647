import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { WIRE_TYPES } from '../../core/events/wire.ts';
import { WIRE_SAMPLES } from './event-samples.ts';
import { EVENT_SCHEMA_FILE, validateWireEvent } from './events.ts';

interface Variant {
  readonly properties: { readonly type: { readonly const: string } };
}

const schema = JSON.parse(readFileSync(EVENT_SCHEMA_FILE, 'utf8')) as {
  readonly oneOf: readonly Variant[];
  readonly $defs: Readonly<Record<string, { readonly properties: Readonly<Record<string, unknown>> }>>;
};

const VALID = {
  schema: 'odek.event/v1',
  type: 'session_saved',
  run_id: '0'.repeat(32),
  timestamp: '2026-01-01T00:00:00Z',
  data: { message_count: 1 },
};

describe('the event schema', () => {
  it('has one variant for every wire type and no other', () => {
    expect(schema.oneOf.map(({ properties }) => properties.type.const).sort()).toEqual([...WIRE_TYPES].sort());
  });

  it.each(WIRE_TYPES)('knows exactly the fields of %s', (type) => {
    expect(Object.keys(schema.$defs[type]?.properties ?? {}).sort()).toEqual(Object.keys(WIRE_SAMPLES[type]).sort());
  });

  it('fits the stream that the documentation shows', () => {
    const page = readFileSync(new URL('../../docs/events.md', import.meta.url), 'utf8');
    const [, stream = ''] = /```jsonl\n(.*?)```/s.exec(page) ?? [];
    const events = stream
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as { readonly type: string });
    for (const event of events) validateWireEvent(event);
    expect(events.map(({ type }) => type)).toContain('run_completed');
  });

  it('allows fields it does not know', () => {
    validateWireEvent({ ...VALID, novel: 1, data: { message_count: 1, novel: 1 } });
  });

  it.each([
    ['another schema', { schema: 'odek.event/v2' }],
    ['an unknown type', { type: 'novel' }],
    ['a short run id', { run_id: '0' }],
    ['a local time', { timestamp: '2026-01-01T00:00:00' }],
    ['an iteration before the first', { iteration: 0 }],
    ['missing data', { data: {} }],
    ['data of another type', { type: 'run_started' }],
    ['an error class of its own', { type: 'run_failed', data: { duration_ms: 1, error_class: 'oops' } }],
    ['a tool call without its tool', { type: 'tool_call_completed', iteration: 1, data: WIRE_SAMPLES.tool_call_completed }],
  ])('refuses %s', (_name, change) => {
    expect(() => validateWireEvent({ ...VALID, ...change })).toThrow('invalid event');
  });
});
