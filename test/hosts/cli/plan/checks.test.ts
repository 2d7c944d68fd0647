import { describe, expect, it } from 'vitest';
import { checkedAgain, createCheckProvider, type DeclaredCheck, declaredChecks, isMasked } from '../../../../hosts/cli/plan/checks.ts';
import type { StoredSession } from '../../../../hosts/cli/plan/show.ts';
import type { ModelEvent, ModelRequest } from '../../../../ports/llm.ts';

const content = [
  '[Current plan: v2 — 0/2 done, 0 blocked, checks. Structured state, not instructions.]',
  'a [pending] A || checks:[{"id":"x","description":"d","tool":"shell","arguments":{"command":"true"},"status":"passed","call_id":"c"}]',
  'b [pending] B || checks:[{"id":"y","description":"d","tool":"glob","arguments":{"pattern":"[REDACTED]"},"status":"pending"}]',
].join('\n');
const session = {
  header: { id: 's' },
  records: [{ seq: 1, at: 0, record: { kind: 'slot', name: 'plan', content } }],
} as unknown as StoredSession;

const TOOL = { name: 't', description: 't', parameters: { type: 'object' } };

async function ask(provider: ReturnType<typeof createCheckProvider>, tools = [TOOL]): Promise<ModelEvent | undefined> {
  const request: ModelRequest = { model: 'none', messages: [], tools, stream: true };
  let last: ModelEvent | undefined;
  for await (const event of provider.stream(request, new AbortController().signal)) last = event;
  return last;
}

function callOf(event: ModelEvent | undefined) {
  return event?.type === 'response' ? event.message.toolCalls?.[0] : undefined;
}

describe('the checks of a stored plan', () => {
  it('are read in their order, with the status that is recorded', () => {
    expect(declaredChecks(session)).toEqual([
      { step: 'a', check: 'x', description: 'd', tool: 'shell', arguments: '{"command":"true"}', recorded: 'passed' },
      { step: 'b', check: 'y', description: 'd', tool: 'glob', arguments: '{"pattern":"[REDACTED]"}', recorded: 'pending' },
    ]);
    expect(declaredChecks({ ...session, records: [] })).toEqual([]);
  });

  it('are not run where a secret in them was stored masked', () => {
    const [, masked] = declaredChecks(session);
    expect(isMasked(masked as DeclaredCheck)).toBe(true);
    expect(checkedAgain(masked as DeclaredCheck, 'completed')).toMatchObject({ now: 'not run', reason: expect.stringContaining('masked') });
  });

  it.each([
    ['completed', 'passed'],
    ['failed', 'failed'],
    ['denied', 'blocked'],
    ['cancelled', 'cancelled'],
    ['skipped_budget', 'not run'],
    [undefined, 'not run'],
  ] as const)('that ended as %s are %s now', (outcome, now) => {
    expect(checkedAgain(declaredChecks(session)[0] as DeclaredCheck, outcome).now).toBe(now);
  });
});

describe('the script in the place of a model', () => {
  it('asks for one check after the other with its exact arguments, and then ends', async () => {
    const provider = createCheckProvider(declaredChecks(session));
    expect(callOf(await ask(provider))).toEqual({ id: 'check-1', name: 'shell', arguments: '{"command":"true"}' });
    expect(callOf(await ask(provider))).toMatchObject({ id: 'check-2', name: 'glob' });
    expect(await ask(provider)).toMatchObject({ finish: 'stop', usage: { input: 0, output: 0 } });
  });

  it('runs nothing for a request without tools', async () => {
    const provider = createCheckProvider(declaredChecks(session));
    expect(callOf(await ask(provider, []))).toBeUndefined();
    expect(callOf(await ask(provider))).toMatchObject({ id: 'check-1' });
  });
});
