import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import { isGone, ownIdentity } from '../../../adapters/store/process-identity.ts';

describe('the identity of a process', () => {
  it('is stable and does not call the living gone', () => {
    expect(ownIdentity()).toEqual(ownIdentity());
    expect(isGone(ownIdentity())).toBe(false);
  });

  it('knows that a process ended', async () => {
    const child = spawn(process.execPath, ['-e', '']);
    await once(child, 'exit');
    const { start } = ownIdentity();
    expect(isGone({ pid: child.pid ?? 0, start })).toBe(true);
    expect(isGone({ pid: child.pid ?? 0, start: '' })).toBe(true);
  });

  it('does not judge a process that it cannot see', () => {
    expect(isGone({ pid: process.pid, start: '' })).toBe(false);
  });
});
