import { describe, expect, it } from 'vitest';
import { toWireEvent, WIRE_TYPES } from '../../../core/events/wire.ts';
import type { RunEvent } from '../../../ports/event.ts';
import { WIRE_SAMPLES } from '../../contracts/event-samples.ts';
import { validateWireEvent } from '../../contracts/events.ts';

const COMMON = { runId: '0123456789abcdef0123456789abcdef', sessionId: '20260807-1', at: Date.UTC(2026, 7, 7, 12) };
const STARTED: RunEvent = {
  ...COMMON,
  type: 'tool_call_started',
  iteration: 3,
  tool: 'shell',
  data: { call_id: 'c1', args_sha256: 'a'.repeat(64), args_bytes: 16, args_summary: { argv0: 'ls', class: 'code_execution' } },
  args: '{"command":"ls"}',
};

describe('the wire form of events', () => {
  it('names the schema, the run, the session, the place and the time', () => {
    expect(toWireEvent(STARTED, { includeArgs: false })).toEqual({
      schema: 'odek.event/v1',
      type: 'tool_call_started',
      run_id: COMMON.runId,
      session_id: '20260807-1',
      iteration: 3,
      tool: 'shell',
      timestamp: '2026-08-07T12:00:00.000Z',
      data: { call_id: 'c1', args_sha256: 'a'.repeat(64), args_bytes: 16, args_summary: { argv0: 'ls', class: 'code_execution' } },
    });
  });

  it('carries arguments only where they are asked for', () => {
    const withArgs = toWireEvent(STARTED, { includeArgs: true });
    expect(withArgs?.data).toHaveProperty('args', '{"command":"ls"}');
    validateWireEvent(withArgs);
    const careless = { ...STARTED, data: { ...(STARTED as { data: object }).data, args: 'x' } } as RunEvent;
    expect(JSON.stringify(toWireEvent(careless, { includeArgs: false }))).not.toContain('"args"');
  });

  it('omits the session until it is known', () => {
    const event = toWireEvent({ runId: COMMON.runId, at: 0, type: 'session_saved', data: { message_count: 2 } }, { includeArgs: false });
    expect(Object.keys(event ?? {})).toEqual(['schema', 'type', 'run_id', 'timestamp', 'data']);
    validateWireEvent(event);
  });

  it.each(WIRE_TYPES)('of %s is valid', (type) => {
    const place = type.startsWith('tool_call_') ? { iteration: 1, tool: 'shell' } : {};
    const event = toWireEvent({ ...COMMON, ...place, type, data: WIRE_SAMPLES[type] } as unknown as RunEvent, { includeArgs: true });
    validateWireEvent(event);
  });

  it('does not exist for live events', () => {
    const live = [
      { ...COMMON, type: 'text_delta', iteration: 1, text: 'x' },
      { ...COMMON, type: 'signal', name: 'context_trimmed', detail: 'x' },
      { ...COMMON, type: 'sink_dropped', sink: 'jsonl', count: 3 },
      { ...COMMON, type: 'constructor' },
    ];
    for (const event of live) expect(toWireEvent(event as unknown as RunEvent, { includeArgs: true })).toBeUndefined();
  });
});
