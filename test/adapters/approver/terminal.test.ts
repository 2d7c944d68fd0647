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

  it('of several calls lists each of them', async () => {
    const { items } = approvalRequest('first');
    await typing(approvalRequest('x', { items: [items[0], { ...items[0], resource: 'second' }] }), 'd\n');
    expect(output).toContain('1. shell (code_execution): first');
    expect(output).toContain('2. shell (code_execution): second');
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

describe('the fourth approval of a class within a minute', () => {
  const approveThrice = async () => {
    for (const name of ['one', 'two', 'three']) expect(await typing(approvalRequest(name), 'a\n')).toBe('approve');
  };

  it('takes the whole word, after a pause in which nothing typed counts', async () => {
    await approveThrice();
    const verdict = approver.decide(approvalRequest('four'), never);
    await turn();
    input.write('approve\n');
    await turn();
    await clock.advance(1600);
    await turn();
    input.write('approve\n');
    expect((await verdict).decision).toBe('approve');
    expect(output.match(/type "approve"/g)).toHaveLength(1);
  });

  it('is denied by the letter alone', async () => {
    await approveThrice();
    const verdict = approver.decide(approvalRequest('four'), never);
    await turn();
    await clock.advance(1600);
    input.write('a\n');
    expect((await verdict).decision).toBe('deny');
  });

  it('needs no more than the letter for another class, or once the minute is over', async () => {
    await approveThrice();
    const [item] = approvalRequest('x').items;
    expect(await typing(approvalRequest('x', { items: [{ ...item, class: 'system_write' }] }), 'a\n')).toBe('approve');
    await clock.advance(61_000);
    expect(await typing(approvalRequest('five'), 'a\n')).toBe('approve');
  });
});

describe('a run that is cancelled during the pause', () => {
  it('leaves the terminal alone afterwards', async () => {
    for (const name of ['one', 'two', 'three']) await typing(approvalRequest(name), 'a\n');
    const controller = new AbortController();
    const verdict = approver.decide(approvalRequest('four'), controller.signal);
    const rejected = expect(verdict).rejects.toThrow('cancelled');
    await turn();
    controller.abort();
    await rejected;
    const before = output;
    await clock.advance(5000);
    await turn();
    expect(output).toBe(before);
    expect(await typing(approvalRequest('other', { items: [{ ...approvalRequest('other').items[0], class: 'unknown' }] }), 'a\n')).toBe(
      'approve',
    );
  });
});
