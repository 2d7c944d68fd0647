import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { WireEvent } from '../../../ports/event.ts';
import { validateWireEvent } from '../../contracts/events.ts';

/** The events of a file. Throws unless every line is a valid event and every started call has its end. */
export async function readEvents(file: string): Promise<WireEvent[]> {
  const text = await readFile(file, 'utf8');
  assert.ok(text === '' || text.endsWith('\n'), 'the last line is whole');
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line): WireEvent => {
      const event: unknown = JSON.parse(line);
      validateWireEvent(event);
      return event as WireEvent;
    });
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'tool_call_started') open.add(`${event.run_id} ${event.data.call_id}`);
    if (event.type !== 'tool_call_completed' && event.type !== 'tool_call_failed') continue;
    assert.ok(open.delete(`${event.run_id} ${event.data.call_id}`), `call ${event.data.call_id} ended without a start`);
  }
  assert.deepEqual([...open], [], 'calls that started and never ended');
  return events;
}

/** The types of events in order, without those that are named. */
export function typesOf(events: readonly WireEvent[], ...without: readonly string[]): string[] {
  return events.map((event) => event.type).filter((type) => !without.includes(type));
}
