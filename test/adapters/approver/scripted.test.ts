import { describe, expect, it } from 'vitest';
import { createScriptedApprover } from '../../../adapters/approver/scripted.ts';
import { approvalRequest } from '../../contracts/approver.suite.ts';

const never = new AbortController().signal;

describe('a script', () => {
  it('answers in its order and denies when it has ended', async () => {
    const approver = createScriptedApprover({ answers: ['approve', 'trust'] });
    const decisions = [];
    for (const name of ['a', 'b', 'c']) decisions.push((await approver.decide(approvalRequest(name), never)).decision);
    expect(decisions).toEqual(['approve', 'trust', 'deny']);
    expect(approver.requests.map(({ items }) => items[0].resource)).toEqual(['a', 'b', 'c']);
  });
});
