import { describe, expect, it } from 'vitest';
import { createCallTracker } from '../../../../hosts/cli/render/tool-calls.ts';
import type { RunEvent, RunEventBody } from '../../../../ports/event.ts';
import { callEnded, callFailed, callStarted } from './stage.ts';

function event(body: RunEventBody): RunEvent {
  return { ...body, runId: 'r', at: 0 };
}

function feed(tracker: ReturnType<typeof createCallTracker>, ...bodies: RunEventBody[]) {
  return bodies.flatMap((body) => tracker.take(event(body)));
}

describe('the call tracker', () => {
  it('gives a call once both its ends were told, in whichever order they come', () => {
    const tracker = createCallTracker();
    feed(tracker, callStarted('a', 'glob', {}), callStarted('b', 'glob', {}));
    const [result, completed] = callEnded('a', 'glob', 5, 9) as [RunEventBody, RunEventBody];
    expect(feed(tracker, completed)).toEqual([]);
    expect(feed(tracker, result)).toMatchObject([{ callId: 'a', outcome: 'completed', durationMs: 5, resultBytes: 9 }]);
    expect(feed(tracker, ...callFailed('b', 'glob', 'failed', 'no'))).toMatchObject([{ callId: 'b', outcome: 'failed' }]);
    expect(tracker.running()).toEqual([]);
    expect(tracker.count()).toBe(2);
  });

  it('keeps two calls apart that share an id', () => {
    const tracker = createCallTracker();
    feed(tracker, callStarted('x', 'one', {}), callStarted('x', 'two', {}));
    expect(feed(tracker, ...callEnded('x', 'one', 1, 1)).map((call) => call.tool)).toEqual(['one']);
    expect(feed(tracker, ...callEnded('x', 'two', 1, 1)).map((call) => call.tool)).toEqual(['two']);
  });

  it('shows a denied call at once and ignores what is told of it afterwards', () => {
    const tracker = createCallTracker();
    expect(feed(tracker, callStarted('a', 'shell', {}), ...callFailed('a', 'shell', 'denied', 'no'))).toHaveLength(1);
    expect(tracker.drain('cancelled')).toEqual([]);
  });

  it('knows a result whose start it never heard of', () => {
    const tracker = createCallTracker();
    expect(feed(tracker, ...callFailed('a', 'shell', 'denied', 'no'))).toMatchObject([{ tool: 'shell', outcome: 'denied' }]);
  });

  it('gives what is still open the outcome it is drained with', () => {
    const tracker = createCallTracker();
    feed(tracker, callStarted('a', 'glob', {}));
    expect(tracker.drain('cancelled')).toMatchObject([{ callId: 'a', outcome: 'cancelled' }]);
    expect(tracker.running()).toEqual([]);
  });
});
