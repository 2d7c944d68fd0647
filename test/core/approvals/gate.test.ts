import { describe, expect, it } from 'vitest';
import { createScriptedApprover } from '../../../adapters/approver/scripted.ts';
import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import { createGate, type GateOptions } from '../../../core/approvals/gate.ts';
import { type Judgement, judgeCall } from '../../../core/approvals/judge.ts';
import type { ApprovalDecision, DangerPolicy } from '../../../ports/approval.ts';
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
        items: [
          { callId: 'call-1', tool: 'shell', class: 'code_execution', resource: 'make all', reason: 'make runs code of the project' },
        ],
        allowTrust: true,
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

describe('the record', () => {
  it('is told before a person is asked and before the answer takes effect', async () => {
    const told: string[] = [];
    const { decide } = guarded(
      {},
      {
        approver: answering('approve'),
        onAsked: async (request, call) => void told.push(`asked ${request.id} ${call.id}`),
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
