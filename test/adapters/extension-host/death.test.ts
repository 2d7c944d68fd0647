import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { hasCode } from '../../../ports/errors.ts';
import { openPlace, openStage, processesWith, RUNTIMES, until, withTools } from './stage.ts';

const QUICK = { every: 50, unresponsive: 300, kill: 1_200 };
const SPIN = withTools({
  spin: 'for (;;) {}',
  waits: 'await new Promise(() => {})',
  works: 'return "works"',
  pauses: 'const end = Date.now() + input.ms; while (Date.now() < end); return "paused"',
});
const messageOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'it resolved',
    (error: unknown) => (hasCode(error, 'extension_exited') ? error.message : `something else: ${error}`),
  );

describe.each(RUNTIMES.map((node, index) => ({ node, name: `runtime ${index + 1}` })))('a host of $name', ({ node }) => {
  test('that does not answer is told of, then ended, and what waits is told how', async () => {
    const stage = await openStage({ node, heartbeat: QUICK });
    try {
      await stage.activate('spins', { 'main.mjs': SPIN });
      const waits = messageOf(stage.tool('waits'));
      expect(await messageOf(stage.tool('spin'))).toMatch(/did not answer for \d+ ms and was ended/);
      expect(await waits).toMatch(/did not answer for \d+ ms and was ended/);
      const states = stage.notices.flatMap((each) => (each.kind === 'state' ? [each.state] : []));
      expect(states).toEqual(['ready', 'unresponsive', 'exited']);
      expect(processesWith(stage.folder)).toEqual([]);
    } finally {
      await stage.close();
    }
  });

  test('that answers again is ready again', async () => {
    const stage = await openStage({ node, heartbeat: { ...QUICK, kill: 10_000 } });
    try {
      await stage.activate('pauses', { 'main.mjs': SPIN });
      expect((await stage.tool('pauses', { ms: 900 })).content).toBe('paused');
      await until(() => stage.host.report().state === 'ready');
      const states = stage.notices.flatMap((each) => (each.kind === 'state' ? [each.state] : []));
      expect(states).toEqual(['ready', 'unresponsive', 'ready']);
    } finally {
      await stage.close();
    }
  });

  test('that is killed during a call leaves nothing waiting and nothing running', async () => {
    const stage = await openStage({ node });
    try {
      await stage.activate('waits', { 'main.mjs': SPIN });
      const waits = messageOf(stage.tool('waits'));
      await stage.tool('works');
      process.kill(stage.host.report().pid, 'SIGKILL');
      expect(await waits).toMatch(/it was ended by SIGKILL/);
      await until(() => processesWith(stage.folder).length === 0);
      expect(readdirSync(join(stage.folder, 'state', 'extension-host', 'tmp'))).toEqual([]);
    } finally {
      await stage.close();
    }
  });

  test('does not outlive odek, not even with code that never lets go', async () => {
    const place = openPlace({ node });
    try {
      const { environment: _, ...options } = place.options;
      const given = {
        options,
        spec: { name: 'orphan', readable: [place.snapshots], writable: [place.data] },
        params: place.place('spins', { 'main.mjs': withTools({ spin: 'for (;;) {}' }) }),
      };
      const parent = spawn(process.execPath, [fileURLToPath(new URL('parent.ts', import.meta.url)), JSON.stringify(given)], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const ended = new Promise((resolve) => parent.once('exit', resolve));
      await new Promise<void>((resolve, reject) => {
        parent.stdout.once('data', () => resolve());
        parent.once('exit', () => reject(new Error('it ended by itself')));
      });
      expect(processesWith(`--ro-bind\u0000${place.snapshots}`).length).toBeGreaterThan(0);
      parent.kill('SIGKILL');
      await ended;
      await until(() => processesWith(place.folder).length === 0);
    } finally {
      place.remove();
    }
  });

  test.each([
    ['buffers', 'const kept = []; for (;;) { kept.push(Buffer.alloc(32 * 1024 * 1024, 1)); }'],
    ['objects', 'const kept = []; for (;;) { kept.push({ a: kept.length, b: "x".repeat(100) + kept.length }); }'],
  ])(
    'whose plugin hoards %s ends alone, or the plugin alone fails',
    async (_, code) => {
      const hog = await openStage({ node });
      const other = await openStage({ node });
      try {
        await hog.activate('hog', { 'main.mjs': withTools({ hog: code }) });
        await other.activate('calm', { 'main.mjs': SPIN });
        const told = await hog.tool('hog', {}, { deadlineMs: 60_000 }).then(
          () => 'it could',
          (error: { readonly code: string }) => error.code,
        );
        expect(['extension_exited', 'extension_call_failed']).toContain(told);
        expect((await other.tool('works')).content).toBe('works');
        expect(other.host.report().state).toBe('ready');
      } finally {
        await hog.close();
        await other.close();
      }
    },
    90_000,
  );

  test('ends at once when it is closed while it spins', async () => {
    const stage = await openStage({ node });
    await stage.activate('spins', { 'main.mjs': SPIN });
    const spin = messageOf(stage.tool('spin'));
    await stage.close();
    expect(await spin).toMatch(/it was closed/);
    expect(processesWith(stage.folder)).toEqual([]);
    expect(existsSync(stage.folder)).toBe(false);
  });

  test('bears 256 calls that nobody ends, refuses the next, and still answers', async () => {
    const stage = await openStage({ node });
    try {
      await stage.activate('waits', { 'main.mjs': SPIN });
      const controller = new AbortController();
      const waits = Array.from({ length: 256 }, () =>
        stage.tool('waits', {}, { signal: controller.signal }).catch((error: { readonly code: string }) => error.code),
      );
      await expect(stage.tool('works')).rejects.toMatchObject({ code: 'extension_busy' });
      controller.abort();
      expect(new Set(await Promise.all(waits))).toEqual(new Set(['cancelled']));
      await until(() => stage.host.report().pending === 0);
      expect((await stage.tool('works')).content).toBe('works');
    } finally {
      await stage.close();
    }
  });
});
