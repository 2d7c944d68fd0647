import { describe, expect, it } from 'vitest';
import { completionNotice, createCompletionNudge } from '../../../core/plan/completion.ts';

describe('the end of a run with pending checks', () => {
  it('gets a notice that counts all pending checks and names eight', () => {
    expect(completionNotice([])).toBe('');
    expect(completionNotice(['s/é'])).toBe(
      '\n\n[odek verification incomplete: 1 declared acceptance check(s) have no current passing evidence: "s/\\u00e9". Task completion is not verified.]',
    );
    const nine = Array.from({ length: 9 }, (_, at) => `s/${at}`);
    expect(completionNotice(nine)).toContain('9 declared acceptance check(s)');
    expect(completionNotice(nine)).toContain('"s/7", …. Task');
    expect(completionNotice(nine)).not.toContain('"s/8"');
    expect(completionNotice(nine.slice(1))).toContain('"s/8". Task');
  });

  it('gets one nudge a run, before that, and only where a check is pending', () => {
    const nudge = createCompletionNudge();
    expect(nudge.take([])).toBeUndefined();
    expect(nudge.take(['s/k'])).toContain('"s/k"');
    expect(nudge.take(['s/k'])).toBeUndefined();
  });
});
