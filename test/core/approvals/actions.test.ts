import { describe, expect, it } from 'vitest';
import { actionOf, DEFAULT_ACTIONS, decidingClass, isExplicitlyAllowed, ranked } from '../../../core/approvals/actions.ts';
import { DANGER_CLASSES, type DangerPolicy } from '../../../ports/approval.ts';

const policy = (changes: Partial<DangerPolicy> = {}): DangerPolicy => ({
  classes: {},
  allowlist: [],
  denylist: [],
  nonInteractive: 'read_only',
  ...changes,
});

describe('the action for a class', () => {
  it('is the built-in one when the operator said nothing', () => {
    expect(DEFAULT_ACTIONS).toEqual({
      safe: 'allow',
      local_write: 'allow',
      install: 'prompt',
      network_egress: 'allow',
      network_upload: 'prompt',
      code_execution: 'prompt',
      system_write: 'prompt',
      unread_exec: 'prompt',
      persistence: 'prompt',
      unknown: 'deny',
      destructive: 'deny',
      blocked: 'deny',
    });
  });

  it("is the operator's word for the class before the global action", () => {
    const both = policy({ classes: { install: 'deny' }, action: 'allow' });
    expect([actionOf('install', both), actionOf('destructive', both), actionOf('safe', policy({ action: 'deny' }))]).toEqual([
      'deny',
      'allow',
      'deny',
    ]);
  });

  it('is always a denial for "blocked"', () => {
    const wish = policy({ classes: { blocked: 'allow' }, action: 'allow' });
    expect([actionOf('blocked', wish), isExplicitlyAllowed('blocked', wish)]).toEqual(['deny', false]);
  });
});

describe('the class that decides', () => {
  it('is the strictest by action, then by rank', () => {
    expect(decidingClass(['safe', 'code_execution', 'system_write'], policy())).toBe('system_write');
    expect(decidingClass(['install', 'system_write'], policy({ classes: { install: 'deny' } }))).toBe('install');
    expect(decidingClass(['safe', 'network_egress', 'local_write'], policy())).toBe('network_egress');
  });

  it('comes from classes without repeats, in rank order', () => {
    expect(ranked(['unknown', 'safe', 'unknown'])).toEqual(['safe', 'unknown']);
    expect(ranked([...DANGER_CLASSES].reverse())).toEqual(DANGER_CLASSES);
  });
});
