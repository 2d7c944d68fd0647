import { describe, expect, it } from 'vitest';
import { createFriction, FRICTION_COUNT, FRICTION_WINDOW_MS } from '../../../core/approvals/friction.ts';
import type { ApprovalRequest, DangerClass } from '../../../ports/approval.ts';
import { approvalRequest } from '../../contracts/approver.suite.ts';
import { createManualClock } from '../../fakes/clock.ts';

const [item] = approvalRequest('x').items;
const card = (cls: DangerClass): ApprovalRequest => approvalRequest('x', { class: cls, items: [{ ...item, class: cls }] });
const batch = (...classes: [DangerClass, ...DangerClass[]]): ApprovalRequest => {
  const [first, ...more] = classes;
  return approvalRequest('x', {
    class: 'tool_batch',
    items: [{ ...item, class: first }, ...more.map((cls) => ({ ...item, class: cls }))],
  });
};

describe('friction', () => {
  it('applies after three approvals of a class within a minute, and to that class alone', () => {
    const friction = createFriction(createManualClock());
    for (let count = 0; count < FRICTION_COUNT; count += 1) {
      expect(friction.applies(card('install'))).toBe(false);
      friction.count(card('install'));
    }
    expect(friction.applies(card('install'))).toBe(true);
    expect(friction.applies(card('code_execution'))).toBe(false);
  });

  it('ends when the oldest of the three is a minute old', async () => {
    const clock = createManualClock();
    const friction = createFriction(clock);
    for (let count = 0; count < FRICTION_COUNT; count += 1) {
      friction.count(card('install'));
      await clock.advance(1000);
    }
    await clock.advance(FRICTION_WINDOW_MS - 3001);
    expect(friction.applies(card('install'))).toBe(true);
    await clock.advance(1);
    expect(friction.applies(card('install'))).toBe(false);
  });

  it('counts a card of several calls for itself and once for each class on it', () => {
    const friction = createFriction(createManualClock());
    for (let count = 0; count < FRICTION_COUNT - 1; count += 1) friction.count(batch('install', 'install', 'install'));
    expect(friction.applies(card('install'))).toBe(false);
    friction.count(batch('install', 'code_execution'));
    expect(friction.applies(card('install'))).toBe(true);
    expect(friction.applies(card('code_execution'))).toBe(false);
    expect(friction.applies(batch('code_execution'))).toBe(true);
  });

  it('applies to a card of several calls when it does to one class on it', () => {
    const friction = createFriction(createManualClock());
    for (let count = 0; count < FRICTION_COUNT; count += 1) friction.count(card('install'));
    expect(friction.applies(batch('code_execution', 'install'))).toBe(true);
    expect(friction.applies(batch('code_execution', 'system_write'))).toBe(false);
  });
});
