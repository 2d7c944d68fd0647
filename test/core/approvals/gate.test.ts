import { describe, expect, it } from 'vitest';
import { createScriptedApprover } from '../../../adapters/approver/scripted.ts';
import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import { createFriction } from '../../../core/approvals/friction.ts';
import { createGate, type GateOptions } from '../../../core/approvals/gate.ts';
import { type Judgement, judgeCall } from '../../../core/approvals/judge.ts';
import type { ApprovalDecision, ApprovalRequest, DangerPolicy } from '../../../ports/approval.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { ToolEffects } from '../../../ports/plugin.ts';
import { sampleTool } from '../../contracts/plugin.broken.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { createMemoryFileSystem } from '../../fakes/file-system.ts';

const never = new AbortController().signal;
const base: DangerPolicy = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' };
const CALL = { id: 'call-1', name: 'shell' };
const READ = { reads: ['notes.md'] };
const READ_OUTSIDE = { reads: ['/etc/passwd'] };
const WRITE = { writes: ['notes.md'] };
const COMMAND = { command: 'make all' };

/** A gate, and the judgement of effects under the gate's own policy. */
function guarded(policy: Partial<DangerPolicy> = {}, options: Partial<GateOptions> = {}) {
  const danger = { ...base, ...policy };
  const fs = createMemoryFileSystem();
  let count = 0;
  const ids = {
    hex: () => {
      count += 1;
      return `id-${count}`;
    },
  };
  const gate = createGate({ policy: danger, ids, timeoutMs: 1000, sessionId: 's1', ...options });
  const judge = (effects: ToolEffects): Promise<Judgement> =>
    judgeCall({ tool: sampleTool({ effects: () => effects }), input: {}, fs, policy: danger, shell: { grammar: createShellGrammar() } });
  return { gate, judge, decide: async (effects: ToolEffects, signal = never) => gate.decide(await judge(effects), CALL, signal) };
}

const answering = (...answers: ApprovalDecision[]) => createScriptedApprover({ answers });
const text = (decision: Awaited<ReturnType<ReturnType<typeof guarded>['decide']>>) => (decision.allowed ? 'allowed' : decision.text);

describe('without anybody to ask, read_only', () => {
  it.each<[string, ToolEffects, Partial<DangerPolicy>, boolean]>([
    ['lets a read inside through', READ, {}, true],
    ['lets a read inside through that the operator wants asked', READ, { classes: { safe: 'prompt' } }, true],
    ['denies a read outside', READ_OUTSIDE, {}, false],
    ['denies a write', WRITE, {}, false],
    ['denies a command', COMMAND, {}, false],
    ['lets a command through that is safe', { command: 'ls; cat notes.md' }, {}, true],
    ['denies a command that writes', { command: 'touch new' }, {}, false],
    ['denies a command that reaches the network', { command: 'curl https://example.org' }, {}, false],
    ['denies the network', { hosts: ['example.org'] }, {}, false],
    ['lets a write through that the operator allowed by class', WRITE, { classes: { local_write: 'allow' } }, true],
    ['lets a command through that the operator allowed by line', COMMAND, { allowlist: ['make all'] }, true],
    ['lets a command through under action allow', COMMAND, { action: 'allow' }, true],
    ['denies what is blocked under action allow', { command: 'rm -rf /' }, { action: 'allow' }, false],
    ['denies a write outside under action allow', { writes: ['/etc/passwd'] }, { action: 'allow' }, false],
  ])('%s', async (_, effects, policy, allowed) => {
    expect((await guarded(policy).decide(effects)).allowed).toBe(allowed);
  });

  it('says so, and which keys would allow it', async () => {
    const decision = await guarded().decide(WRITE);
    expect(decision).toMatchObject({ allowed: false, by: 'non_interactive' });
    expect(text(decision)).toMatch(/^operation denied \(non-interactive mode\): shell notes\.md \(local_write\): /);
    expect(text(decision)).toContain('dangerous.classes.local_write: "allow"');
    expect(text(decision)).toContain('dangerous.non_interactive: "allow"');
  });
});

describe('without anybody to ask, deny', () => {
  it.each<[string, ToolEffects, Partial<DangerPolicy>, boolean]>([
    ['lets a read inside through', READ, {}, true],
    ['denies a read that prompts', READ, { classes: { safe: 'prompt' } }, false],
    ['denies a read outside', READ_OUTSIDE, {}, false],
    ['denies a write', WRITE, {}, false],
    ['lets through what the operator allowed in words', WRITE, { classes: { local_write: 'allow' } }, true],
  ])('%s', async (_, effects, policy, allowed) => {
    expect((await guarded({ ...policy, nonInteractive: 'deny' }).decide(effects)).allowed).toBe(allowed);
  });
});

describe('without anybody to ask, allow', () => {
  it.each<[string, ToolEffects, boolean]>([
    ['lets through what prompts', COMMAND, true],
    ['lets a read outside through', READ_OUTSIDE, true],
    ['keeps refusing a write outside', { writes: ['/etc/passwd'] }, false],
    ['keeps refusing what is blocked', { command: 'rm -rf /' }, false],
  ])('%s', async (_, effects, allowed) => {
    expect((await guarded({ nonInteractive: 'allow' }).decide(effects)).allowed).toBe(allowed);
  });
});

describe('a denial by configuration', () => {
  it('asks nobody and says why', async () => {
    const approver = answering('approve');
    const decision = await guarded({ denylist: ['make'] }, { approver }).decide(COMMAND);
    expect(decision).toEqual({
      allowed: false,
      by: 'configuration',
      text: 'operation denied by configuration: shell make all (code_execution): dangerous.denylist has "make"',
    });
    expect(approver.requests).toEqual([]);
  });
});

describe('a person', () => {
  it('is asked about what prompts and not about what is allowed', async () => {
    const approver = answering('approve');
    const { decide } = guarded({}, { approver });
    expect([(await decide(READ)).allowed, (await decide(WRITE)).allowed, (await decide(COMMAND)).allowed]).toEqual([true, true, true]);
    expect(approver.requests).toEqual([
      {
        id: 'id-1',
        sessionId: 's1',
        class: 'code_execution',
        items: [
          { callId: 'call-1', tool: 'shell', class: 'code_execution', resource: 'make all', reason: 'make runs code of the project' },
        ],
        allowTrust: true,
        friction: false,
        timeoutMs: 1000,
      },
    ]);
  });

  it('who denies is named in the text', async () => {
    const decision = await guarded({}, { approver: answering('deny') }).decide(COMMAND);
    expect(decision).toEqual({
      allowed: false,
      by: 'user',
      text: 'operation denied by user: shell make all (code_execution): make runs code of the project',
    });
  });

  it('who does not answer in time has not approved', async () => {
    const decision = await guarded({}, { approver: answering('timeout') }).decide(COMMAND);
    expect(decision).toMatchObject({ allowed: false, by: 'timeout' });
    expect(text(decision)).toMatch(/^approval timeout: shell make all/);
  });

  it('who trusts a class is not asked about it again in this session', async () => {
    const approver = answering('trust');
    const { decide } = guarded({}, { approver });
    await decide(COMMAND);
    expect((await decide({ command: 'make other' })).allowed).toBe(true);
    expect(approver.requests).toHaveLength(1);
    expect((await decide(READ_OUTSIDE)).allowed).toBe(false);
  });

  it('who trusts while more of the class wait is not asked about those', async () => {
    const approver = answering('trust');
    const { decide } = guarded({}, { approver });
    const decisions = await Promise.all([decide(COMMAND), decide({ command: 'make b' }), decide({ command: 'make c' })]);
    expect(decisions.every(({ allowed }) => allowed)).toBe(true);
    expect(approver.requests).toHaveLength(1);
  });

  it('is not offered trust for classes that nobody may trust', async () => {
    const approver = answering('approve', 'approve');
    const { gate, decide } = guarded({ classes: { unknown: 'prompt' } }, { approver });
    const judgement = { ...(await guarded().judge(COMMAND)), classes: ['unknown'] as const, class: 'unknown' as const };
    expect((await gate.decide(judgement, CALL, never)).allowed).toBe(true);
    expect(approver.requests.at(-1)?.allowTrust).toBe(false);
    await decide(COMMAND);
    expect(approver.requests.at(-1)?.allowTrust).toBe(true);
  });

  it('who answers "trust" where it was not offered has not approved', async () => {
    const forging = { decide: async () => ({ decision: 'trust', by: 'forger' }) as const };
    const { gate, judge } = guarded({ classes: { unknown: 'prompt' } }, { approver: forging });
    const judgement = { ...(await judge(COMMAND)), classes: ['unknown'] as const, class: 'unknown' as const };
    expect(await gate.decide(judgement, CALL, never)).toMatchObject({ allowed: false, by: 'user' });
  });

  it('reads no hidden characters, in the card and in the denial', async () => {
    const approver = answering('deny');
    const decision = await guarded({ classes: { unknown: 'prompt' } }, { approver }).decide({ command: 'make \u001b[2K\u202ehi' });
    expect(approver.requests[0]?.items[0].resource).toBe('make \\x1b[2K\\u202ehi');
    expect(text(decision)).toContain('make \\x1b[2K\\u202ehi');
  });
});

describe('one card for the calls of a response', () => {
  const key = (index: number) => `run/1/${index}` as const;

  /** The calls, judged, and the gate that the answer makes. */
  async function together(effects: readonly ToolEffects[], policy: Partial<DangerPolicy>, options: Partial<GateOptions>) {
    const { gate, judge } = guarded(policy, options);
    const calls = await Promise.all(
      effects.map(async (each, index) => ({ call: { id: `c${index}`, name: 'shell', key: key(index) }, judgement: await judge(each) })),
    );
    const batch = await gate.together(calls, never);
    const decide = (index: number, now = calls[index]?.judgement) => {
      const call = calls[index]?.call;
      if (call === undefined || now === undefined) throw new Error(`no call ${index}`);
      return batch.decide(now, call, never);
    };
    return { gate, judge, calls, decide };
  }
  const commands = (...lines: string[]) => lines.map((command) => ({ command }));

  it('lists those that need a person, whole, and no others', async () => {
    const approver = answering('approve');
    const { decide } = await together([{ command: 'make a' }, READ, { command: 'make b' }, { command: 'rm -rf /' }], {}, { approver });
    expect(approver.requests).toHaveLength(1);
    expect(approver.requests[0]).toMatchObject({ class: 'tool_batch', allowTrust: false });
    expect(approver.requests[0]?.items.map(({ callId, tool, resource }) => [callId, tool, resource])).toEqual([
      ['c0', 'shell', 'make a'],
      ['c2', 'shell', 'make b'],
    ]);
    expect([(await decide(0)).allowed, (await decide(1)).allowed, (await decide(2)).allowed]).toEqual([true, true, true]);
    expect(await decide(3)).toMatchObject({ allowed: false, by: 'configuration' });
    expect(approver.requests).toHaveLength(1);
  });

  it('is not shown for a single call, without a person, or where nothing prompts', async () => {
    const approver = answering();
    await together(commands('make a'), {}, { approver });
    await together([{ command: 'make a' }, READ, WRITE], {}, { approver });
    await together([READ, WRITE], {}, { approver });
    expect(approver.requests).toEqual([]);
    const { decide } = await together(commands('make a', 'make b'), {}, {});
    expect(await decide(0)).toMatchObject({ allowed: false, by: 'non_interactive' });
  });

  it('is not shown where nobody can tell what one of them does; each is asked about alone', async () => {
    const approver = answering('approve', 'deny', 'approve');
    const { decide } = await together(commands('make a', '"$UNKNOWN" b', 'make c'), { classes: { unknown: 'prompt' } }, { approver });
    expect(approver.requests).toEqual([]);
    expect([(await decide(0)).allowed, (await decide(1)).allowed, (await decide(2)).allowed]).toEqual([true, false, true]);
    expect(approver.requests.map((request) => request.items.length)).toEqual([1, 1, 1]);
  });

  it('is not shown where one of them is unknown and denied', async () => {
    const approver = answering('approve', 'approve');
    await together(commands('make a', '"$UNKNOWN" b', 'make c'), {}, { approver });
    expect(approver.requests).toEqual([]);
  });

  it('is not shown where nobody would read it to its end', async () => {
    const approver = answering('approve');
    const lines = Array.from({ length: 40 }, (_, index) => `make ${index} ${'x'.repeat(3000)}`);
    await together(commands(...lines), {}, { approver });
    expect(approver.requests).toEqual([]);
  });

  it('that is denied denies each call on it', async () => {
    const { decide } = await together([...commands('make a', 'make b'), READ], {}, { approver: answering('deny') });
    expect(await decide(0)).toEqual({ allowed: false, by: 'user', text: 'batch approval denied' });
    expect(await decide(1)).toEqual({ allowed: false, by: 'user', text: 'batch approval denied' });
    expect((await decide(2)).allowed).toBe(true);
  });

  it('that nobody answers in time denies each call on it', async () => {
    const { decide } = await together(commands('make a', 'make b'), {}, { approver: answering('timeout') });
    expect(await decide(0)).toMatchObject({ allowed: false, by: 'timeout' });
    expect(text(await decide(1))).toMatch(/^approval timeout: shell make b \(code_execution\)/);
  });

  it('cannot be trusted: a forged answer denies', async () => {
    const forging = { decide: async () => ({ decision: 'trust', by: 'forger' }) as const };
    const { decide, gate, judge } = await together(commands('make a', 'make b'), {}, { approver: forging });
    expect(await decide(0)).toMatchObject({ allowed: false, by: 'user' });
    expect(await gate.decide(await judge(COMMAND), CALL, never)).toEqual({ allowed: true });
  });

  it('lets through what it showed and nothing else: a call that changed is asked about again', async () => {
    const approver = answering('approve', 'deny', 'deny', 'deny');
    const { decide, judge, calls } = await together(commands('make a', 'make b', 'make c'), {}, { approver });
    const seen = calls[0]?.judgement as Judgement;
    expect((await decide(0, { ...seen, classes: ['system_write'], class: 'system_write' })).allowed).toBe(false);
    expect((await decide(1, await judge({ command: 'make other' }))).allowed).toBe(false);
    expect((await decide(2, { ...(calls[2]?.judgement as Judgement), reason: 'it is worse than it was' })).allowed).toBe(false);
    expect(approver.requests.slice(1).map(({ items }) => items[0].resource)).toEqual(['make a', 'make other', 'make c']);
  });

  it('lets a call through once', async () => {
    const approver = answering('approve', 'deny');
    const { decide } = await together(commands('make a', 'make b'), {}, { approver });
    expect((await decide(0)).allowed).toBe(true);
    expect((await decide(0)).allowed).toBe(false);
  });

  it('says nothing about the calls of the next response', async () => {
    const approver = answering('approve', 'deny');
    const { gate, judge } = await together(commands('make a', 'make b'), {}, { approver });
    expect((await gate.decide(await judge({ command: 'make a' }), { ...CALL, key: key(0) }, never)).allowed).toBe(false);
    expect(approver.requests).toHaveLength(2);
  });

  it('leaves out a class that is trusted', async () => {
    const approver = answering('trust', 'approve');
    const { gate, judge } = guarded({}, { approver });
    await gate.decide(await judge(COMMAND), CALL, never);
    const judged = await Promise.all(
      [{ command: 'make a' }, READ_OUTSIDE, { reads: ['/etc/hosts'] }].map(async (effects, index) => ({
        call: { id: `c${index}`, name: 'x' },
        judgement: await judge(effects),
      })),
    );
    await gate.together(judged, never);
    expect(approver.requests[1]?.items.map(({ class: cls }) => cls)).toEqual(['system_write', 'system_write']);
  });

  it('is recorded with all its calls, before it is shown and before the answer counts', async () => {
    const told: string[] = [];
    await together(
      commands('make a', 'make b'),
      {},
      {
        approver: answering('approve'),
        onAsked: async (request, calls) => void told.push(`asked ${request.class} ${calls.map((call) => call.key).join()}`),
        onAnswered: async (_, verdict, calls) => void told.push(`${verdict.decision} ${calls.map((call) => call.key).join()}`),
      },
    );
    expect(told).toEqual(['asked tool_batch run/1/0,run/1/1', 'approve run/1/0,run/1/1']);
  });

  it('gives no decision when the run is cancelled', async () => {
    const controller = new AbortController();
    const { gate, judge } = guarded({}, { approver: createScriptedApprover({ whenEmpty: 'wait' }) });
    const calls = await Promise.all(
      ['make a', 'make b'].map(async (command, index) => ({ call: { id: `c${index}`, name: 'x' }, judgement: await judge({ command }) })),
    );
    const waiting = gate.together(calls, controller.signal);
    const rejected = expect(waiting).rejects.toMatchObject({ code: 'cancelled' });
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    await rejected;
  });
});

describe('friction', () => {
  it('is told to the approver with the fourth approval of a class within a minute; a denial does not count', async () => {
    const clock = createManualClock();
    const approver = answering('approve', 'deny', 'approve', 'timeout', 'approve', 'deny', 'approve');
    const { decide } = guarded({}, { approver, friction: createFriction(clock) });
    for (let count = 0; count < 6; count += 1) await decide({ command: `make ${count}` });
    expect(approver.requests.map(({ friction }) => friction)).toEqual([false, false, false, false, false, true]);
    await clock.advance(60_000);
    await decide(COMMAND);
    expect(approver.requests.at(-1)?.friction).toBe(false);
  });

  it('grows with trust, and not with trust that was forged', async () => {
    const clock = createManualClock();
    const friction = createFriction(clock);
    const asked: boolean[] = [];
    const trusting = {
      decide: async (request: ApprovalRequest) => {
        asked.push(request.friction);
        return { decision: 'trust', by: 'x' } as const;
      },
    };
    for (let count = 0; count < 3; count += 1) {
      await guarded({}, { approver: trusting, friction }).decide(COMMAND);
      await guarded({ classes: { unknown: 'prompt' } }, { approver: trusting, friction }).decide({ command: '"$UNKNOWN"' });
    }
    await guarded({}, { approver: trusting, friction }).decide(COMMAND);
    await guarded({ classes: { unknown: 'prompt' } }, { approver: trusting, friction }).decide({ command: '"$UNKNOWN"' });
    expect(asked.slice(-2)).toEqual([true, false]);
  });

  it('spans the sessions that one person answers for', async () => {
    const friction = createFriction(createManualClock());
    const approver = answering('approve', 'approve', 'approve', 'deny');
    for (const session of ['a', 'b', 'c', 'd']) await guarded({}, { approver, friction, sessionId: session }).decide(COMMAND);
    expect(approver.requests.map((request) => request.friction)).toEqual([false, false, false, true]);
  });
});

describe('a call that is asked about every time', () => {
  const every = async (judged: Promise<Judgement>): Promise<Judgement> =>
    ({ ...(await judged), classes: ['unknown'], class: 'unknown', action: 'prompt', everyCall: true }) as const;

  it('is asked about whatever the class, without an offer of trust', async () => {
    const approver = answering('approve', 'deny');
    const { gate, judge } = guarded({}, { approver });
    expect((await gate.decide(await every(judge(COMMAND)), CALL, never)).allowed).toBe(true);
    expect((await gate.decide(await every(judge(COMMAND)), CALL, never)).allowed).toBe(false);
    expect(approver.requests.map(({ allowTrust }) => allowTrust)).toEqual([false, false]);
  });

  it('is denied where nobody can be asked, also under allow', async () => {
    const { gate, judge } = guarded({ nonInteractive: 'allow' });
    expect(await gate.decide(await every(judge(COMMAND)), CALL, never)).toMatchObject({ allowed: false, by: 'non_interactive' });
  });
});

describe('a judgement that prompts though none of its classes does', () => {
  it('is asked about, without an offer of trust', async () => {
    const approver = answering('deny');
    const { gate, judge } = guarded({}, { approver });
    expect(await gate.decide({ ...(await judge(READ)), action: 'prompt' }, CALL, never)).toMatchObject({ allowed: false, by: 'user' });
    expect(approver.requests[0]?.allowTrust).toBe(false);
  });
});

describe('the record', () => {
  it('is told before a person is asked and before the answer takes effect', async () => {
    const told: string[] = [];
    const { decide } = guarded(
      {},
      {
        approver: answering('approve'),
        onAsked: async (request, calls) => void told.push(`asked ${request.id} ${calls.map(({ id }) => id).join()}`),
        onAnswered: async (request, verdict) => void told.push(`answered ${request.id} ${verdict.decision} ${verdict.by}`),
      },
    );
    await decide(COMMAND);
    expect(told).toEqual(['asked id-1 call-1', 'answered id-1 approve script']);
  });
});

describe('an approver', () => {
  it('that fails has not approved', async () => {
    const failing = {
      decide: async () => {
        throw new Error('the terminal is gone');
      },
    };
    expect(await guarded({}, { approver: failing }).decide(COMMAND)).toMatchObject({ allowed: false, by: 'non_interactive' });
  });

  it('that overruns its time limit is cut off', async () => {
    const clock = createManualClock();
    const endless = {
      decide: (_: unknown, signal: AbortSignal) =>
        new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('cut off')))),
    };
    const deciding = guarded({}, { approver: endless, clock }).decide(COMMAND);
    await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(4000);
    expect(await deciding).toMatchObject({ allowed: false, by: 'timeout' });
  });

  it('that is waited for when the run is cancelled gives no decision, nor do the ones in line', async () => {
    const controller = new AbortController();
    const approver = createScriptedApprover({ whenEmpty: 'wait' });
    const { decide } = guarded({}, { approver });
    const waiting = [decide(COMMAND, controller.signal), decide({ command: 'make b' }, controller.signal)];
    const outcomes = Promise.allSettled(waiting);
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort();
    const reasons = (await outcomes).map((outcome) => outcome.status === 'rejected' && hasCode(outcome.reason, 'cancelled'));
    expect(reasons).toEqual([true, true]);
    approver.push('approve');
    expect((await decide({ command: 'make c' })).allowed).toBe(true);
  });
});

describe("a call of a third party's tool", () => {
  it('passes without a person by no rule for the time when nobody is there', async () => {
    const { gate, judge } = guarded({ nonInteractive: 'allow' });
    const judgement = { ...(await judge(COMMAND)), class: 'code_execution', action: 'prompt', explicit: false, needsPerson: true } as const;
    const decision = await gate.decide(judgement, CALL, never);
    expect(decision).toMatchObject({ allowed: false, by: 'non_interactive', text: expect.stringContaining('dangerous.action: "allow"') });
    expect((await gate.decide({ ...judgement, action: 'allow', explicit: true, needsPerson: false }, CALL, never)).allowed).toBe(true);
  });
});
