import { PassThrough } from 'node:stream';
import { beforeEach, describe, expect, it } from 'vitest';
import { createTerminalApprover } from '../../../adapters/approver/terminal.ts';
import type { ApprovalRequest, Approver } from '../../../ports/approval.ts';
import { approvalRequest } from '../../contracts/approver.suite.ts';
import { createManualClock, type ManualClock } from '../../fakes/clock.ts';

const never = new AbortController().signal;
let input: PassThrough;
let output: string;
let clock: ManualClock;
let approver: Approver;

beforeEach(() => {
  input = new PassThrough();
  output = '';
  const stream = new PassThrough();
  stream.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  clock = createManualClock();
  approver = createTerminalApprover({ terminal: { input, output: stream }, clock });
});

const turn = () => new Promise((resolve) => setImmediate(resolve));

async function typing(request: ApprovalRequest, ...texts: readonly string[]): Promise<string> {
  const verdict = approver.decide(request, never);
  for (const text of texts) {
    await turn();
    await turn();
    input.write(text);
  }
  return (await verdict).decision;
}

describe('the card', () => {
  it('shows risk, command and reason', async () => {
    await typing(approvalRequest('ls -la'), 'd\n');
    expect(output).toContain('Risk: code_execution');
    expect(output).toContain('Run:  ls -la');
    expect(output).toContain('Why:  a shell command can run any code');
  });

  it('of several calls lists each of them, whole, and offers no trust', async () => {
    const { items } = approvalRequest('first');
    const batch = {
      class: 'tool_batch',
      allowTrust: false,
      items: [items[0], { ...items[0], tool: 'sh', resource: 'second\n    line' }],
    } as const;
    expect(await typing(approvalRequest('x', batch), '?\n', 't\n', 'a\n')).toBe('approve');
    expect(output).toContain('⚠️ 2 tool actions require approval:\n  1. `shell` — `first`\n  2. `sh` — `second\n    line`\n');
    expect(output).toContain('[a]pprove all of them once, [d]eny, [?] more: ');
    expect(output).toContain('One answer decides all of these calls, and no others.');
    expect(output).toContain('trust is not offered here');
  });
});

describe('a key', () => {
  it.each([
    ['a\n', 'approve'],
    ['approve\n', 'approve'],
    ['A\r', 'approve'],
    ['t\n', 'trust'],
    ['trust\n', 'trust'],
    ['d\n', 'deny'],
    ['\n', 'deny'],
    ['yes\n', 'deny'],
    ['\u0003', 'deny'],
  ])('%j means %s', async (typed, decision) => {
    expect(await typing(approvalRequest('x'), typed)).toBe(decision);
  });

  it('"?" shows the context and asks again', async () => {
    expect(await typing(approvalRequest('x'), '?\n', 'a\n')).toBe('approve');
    expect(output).toContain('session s1');
  });

  it('for trust that is not offered asks again', async () => {
    expect(await typing(approvalRequest('x', { allowTrust: false }), 't\n', 'a\n')).toBe('approve');
    expect(output).not.toContain('[t]rust');
    expect(output).toContain('trust is not offered here');
  });
});

describe('the end of the input', () => {
  it('denies', async () => {
    const verdict = approver.decide(approvalRequest('x'), never);
    input.end();
    expect((await verdict).decision).toBe('deny');
  });
});

describe('the time limit', () => {
  it('ends the question and says so', async () => {
    const verdict = approver.decide(approvalRequest('x', { timeoutMs: 60_000 }), never);
    await turn();
    await clock.advance(60_001);
    expect((await verdict).decision).toBe('timeout');
    expect(output).toContain('no answer in time: denied');
  });
});

describe('a card with friction', () => {
  const friction = (changes: Partial<ApprovalRequest> = {}) => approvalRequest('four', { friction: true, ...changes });

  it('takes the whole word, after a pause in which nothing typed counts', async () => {
    const verdict = approver.decide(friction(), never);
    await turn();
    input.write('approve\n');
    await turn();
    await clock.advance(1499);
    await turn();
    expect(output).not.toContain('type "approve"');
    await clock.advance(1);
    await turn();
    input.write('approve\n');
    expect((await verdict).decision).toBe('approve');
    expect(output.match(/type "approve"/g)).toHaveLength(1);
  });

  it.each([
    ['a\n', 'deny'],
    ['t\n', 'deny'],
    ['trust\n', 'trust'],
    ['APPROVE\n', 'approve'],
  ])('takes %j for %s', async (typed, decision) => {
    const verdict = approver.decide(friction(), never);
    await turn();
    await clock.advance(1500);
    input.write(typed);
    expect((await verdict).decision).toBe(decision);
  });

  it('asks again for trust that is not offered', async () => {
    const verdict = approver.decide(friction({ allowTrust: false }), never);
    await turn();
    await clock.advance(1500);
    input.write('trust\n');
    await turn();
    input.write('approve\n');
    expect((await verdict).decision).toBe('approve');
    expect(output).toContain('trust is not offered here');
  });

  it('leaves the terminal alone once the run is cancelled during the pause', async () => {
    const controller = new AbortController();
    const verdict = approver.decide(friction(), controller.signal);
    const rejected = expect(verdict).rejects.toThrow('cancelled');
    await turn();
    controller.abort();
    await rejected;
    const before = output;
    await clock.advance(5000);
    await turn();
    expect(output).toBe(before);
    expect(await typing(approvalRequest('other'), 'a\n')).toBe('approve');
  });
});
