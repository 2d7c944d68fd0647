import { describe, expect, it } from 'vitest';
import { noteOf } from '../../../../hosts/cli/render/notes.ts';
import type { RunEvent } from '../../../../ports/event.ts';

const HEAD = { schema_version: 'odek.event/v1', timestamp: '2026-01-01T00:00:00.000Z', run_id: 'r', iteration: 4 } as const;

function notes(...events: readonly object[]): readonly (string | undefined)[] {
  return events.map((event) => noteOf({ ...HEAD, ...event } as unknown as RunEvent)?.text);
}

describe('what a person is told beside the answer', () => {
  it('tells of a trimmed context once, though an event and a signal do', () => {
    expect(
      notes(
        { type: 'context_trimmed', data: { mode: 'survival', dropped_groups: 1, truncated_results: 2 } },
        { type: 'signal', name: 'context_trimmed', detail: 'survival: 1 message groups dropped, 2 tool results shortened' },
      ),
    ).toEqual(['context trimmed: 1 group dropped, 2 results shortened', undefined]);
  });

  it('tells that the estimate was too low, which no event says', () => {
    expect(notes({ type: 'signal', name: 'context_trimmed', detail: 'margin_calibrated' })).toEqual([
      'the model counts more tokens than estimated: requests are kept smaller',
    ]);
  });

  it('leaves a budget warning to its hint, and shows other signals with their detail', () => {
    expect(
      notes(
        { type: 'signal', name: 'budget_warning', detail: 'x' },
        { type: 'signal', name: 'tool_recovery', detail: 'repeated identical call (3x read_file)' },
      ),
    ).toEqual([undefined, 'tool recovery: repeated identical call (3x read_file)']);
  });
});
