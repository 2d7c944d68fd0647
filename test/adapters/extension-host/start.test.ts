import { spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { describe, expect, test } from 'vitest';
import { createChannel } from '../../../adapters/extension-host/channel.ts';
import { createExtensionHostLauncher, type ExtensionHostOptions } from '../../../adapters/extension-host/index.ts';
import { findRuntime } from '../../../adapters/extension-host/runtime.ts';
import { openPlace, openStage, type Place, PROGRAM, processesWith, RUNTIMES, withTools } from './stage.ts';

const never = new AbortController().signal;
const listener = { request: async () => ({ handle: 'h' }), notice: () => {} };

async function withPlace<Value>(work: (place: Place) => Promise<Value>): Promise<Value> {
  const place = openPlace();
  try {
    return await work(place);
  } finally {
    place.remove();
  }
}

/** A program of the search path that is a script of ours. */
function fakeProgram(place: Place, name: string, script: string): string {
  const folder = join(place.folder, 'bin');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
  return folder;
}

function start(
  place: Place,
  more: Partial<ExtensionHostOptions>,
  spec = { name: 'test', readable: [place.snapshots], writable: [place.data] },
  signal = never,
) {
  return createExtensionHostLauncher({ ...place.options, ...more }).start(spec, listener, signal);
}

describe('a host that starts', () => {
  test('says what runs it and what holds it', async () => {
    const stage = await openStage();
    try {
      const report = stage.host.report();
      expect(report).toMatchObject({ state: 'ready', sandbox: 'bwrap', runtime: { name: 'node', version: process.versions.node } });
      expect(report.memory).toMatch(/^JavaScript heap of 256 MiB, data of \d+ MiB$/);
      const limits = readFileSync(`/proc/${report.pid}/limits`, 'utf8');
      expect(limits).toMatch(/Max core file size\s+0\s+0/);
      expect(limits).toMatch(/Max open files\s+256\s+256/);
      expect(limits).toMatch(/Max file size\s+67108864\s+67108864/);
      expect(Number(/Max data size\s+(\d+)/.exec(limits)?.[1])).toBeGreaterThan(1024 ** 3);
      const known = readFileSync(join(stage.folder, 'state/extension-host/runtime.json'), 'utf8');
      expect(known).toContain(process.versions.node);
    } finally {
      await stage.close();
    }
  });

  test('is refused without bwrap, and told how to get it', () =>
    withPlace(async (place) => {
      await expect(start(place, { environment: { PATH: place.folder } })).rejects.toMatchObject({
        code: 'extension_sandbox_unavailable',
        message: expect.stringMatching(/bwrap is not installed; install bubblewrap/),
      });
    }));

  test("is refused where bwrap does not run, with bwrap's own words", () =>
    withPlace(async (place) => {
      const folder = fakeProgram(place, 'bwrap', 'echo "bwrap: setting up uid map: Permission denied" >&2; exit 1');
      await expect(start(place, { environment: { PATH: `${folder}:/usr/bin` } })).rejects.toMatchObject({
        code: 'extension_sandbox_unavailable',
        message: expect.stringMatching(/bwrap: setting up uid map: Permission denied; allow user namespaces/),
      });
      expect(processesWith(place.folder)).toEqual([]);
    }));

  test('does not take a bwrap that the project brought along', () =>
    withPlace(async (place) => {
      const folder = fakeProgram(place, 'bwrap', 'touch "$0.ran"; exit 1');
      await expect(start(place, { environment: { PATH: folder }, workspace: place.folder })).rejects.toMatchObject({
        code: 'extension_sandbox_unavailable',
      });
      expect(existsSync(join(folder, 'bwrap.ran'))).toBe(false);
    }));

  test('runs without a sandbox where the operator allows it, and says so', async () => {
    const stage = await openStage({ allowUnsandboxed: true, environment: { PATH: '/nowhere' } });
    try {
      expect(stage.host.report().sandbox).toBe('none');
      await stage.activate('open', {
        'main.mjs': withTools({ reads: 'return fs.readFileSync("/etc/passwd", "utf8")' }, { head: 'import fs from "node:fs";' }),
      });
      await expect(stage.tool('reads')).rejects.toThrow(/restricted/);
    } finally {
      await stage.close();
    }
    expect(processesWith(stage.folder)).toEqual([]);
  });

  test('prefers the sandbox also where it may do without', async () => {
    const stage = await openStage({ allowUnsandboxed: true });
    expect(stage.host.report().sandbox).toBe('bwrap');
    await stage.close();
  });

  test('works without prlimit', () =>
    withPlace(async (place) => {
      mkdirSync(join(place.folder, 'bin'));
      symlinkSync('/usr/bin/bwrap', join(place.folder, 'bin', 'bwrap'));
      const host = await start(place, { environment: { PATH: join(place.folder, 'bin') } });
      expect(readFileSync(`/proc/${host.report().pid}/limits`, 'utf8')).toMatch(/Max open files\s+256\s+256/);
      await host.close();
    }));

  test.each([
    ['a folder that is all of the machine', ['/'], /is all of the machine/],
    ['a folder that is not absolute', ['data'], /is not absolute and normal/],
    ['a folder that leads elsewhere', ['/tmp/../etc'], /is not absolute and normal/],
    ['a folder of the host itself', ['/odek/tmp'], /lies where the host has its own/],
    ['a folder that is not there', ['/nowhere/at/all'], /is not there/],
  ])('is refused %s', (_, readable, told) =>
    withPlace(async (place) => {
      await expect(start(place, {}, { name: 'test', readable, writable: [] })).rejects.toMatchObject({
        code: 'extension_start_failed',
        message: expect.stringMatching(told),
      });
    }),
  );

  test('that does not get ready in time is ended', () =>
    withPlace(async (place) => {
      const program = join(place.folder, 'silent.mjs');
      writeFileSync(program, 'setInterval(() => {}, 1000);');
      await expect(start(place, { program, startTimeoutMs: 500 })).rejects.toMatchObject({
        code: 'extension_start_failed',
        message: expect.stringMatching(/not ready within 500 ms/),
      });
      expect(processesWith(place.folder)).toEqual([]);
    }));

  test('whose program was never built says how to build it', () =>
    withPlace(async (place) => {
      await expect(start(place, { program: join(place.folder, 'nowhere.mjs') })).rejects.toMatchObject({
        code: 'extension_start_failed',
        message: expect.stringMatching(/nowhere\.mjs; where odek runs from its source, "npm run build" makes it/),
      });
    }));

  test('whose program fails says what it said', () =>
    withPlace(async (place) => {
      const program = join(place.folder, 'broken.mjs');
      writeFileSync(program, 'throw new Error("it does not work");');
      await expect(start(place, { program })).rejects.toMatchObject({
        code: 'extension_start_failed',
        message: expect.stringMatching(/exited with 1; it said: .*it does not work/),
      });
    }));

  test('that speaks something else is ended', () =>
    withPlace(async (place) => {
      const program = join(place.folder, 'other.mjs');
      writeFileSync(
        program,
        'import { Socket } from "node:net"; new Socket({ fd: 3 }).write("HTTP/1.1 200 OK\\n\\n"); setInterval(() => {}, 1000);',
      );
      await expect(start(place, { program })).rejects.toMatchObject({ code: 'extension_start_failed' });
      expect(processesWith(place.folder)).toEqual([]);
    }));

  test('is cancelled with its signal, and leaves nothing', () =>
    withPlace(async (place) => {
      const program = join(place.folder, 'silent.mjs');
      writeFileSync(program, 'setInterval(() => {}, 1000);');
      const controller = new AbortController();
      const started = start(place, { program }, undefined, controller.signal);
      setTimeout(() => controller.abort(), 300);
      await expect(started).rejects.toMatchObject({ code: 'cancelled' });
      expect(processesWith(place.folder)).toEqual([]);
    }));
});

describe('the Node that runs hosts', () => {
  const search = (place: Place, more: { configured?: string; searchPath?: string }) =>
    findRuntime({
      workspace: join(place.folder, 'project'),
      searchPath: more.searchPath,
      cacheFile: join(place.folder, 'runtime.json'),
      ...(more.configured !== undefined && { configured: more.configured }),
    });

  test('is the one that runs odek', () =>
    withPlace(async (place) => expect((await search(place, {})).version).toBe(process.versions.node)));

  test('is the configured one and no other', () =>
    withPlace(async (place) => {
      const configured = join(fakeProgram(place, 'node', `echo '{"version":"22.18.9","dataBytes":1,"libraries":[]}'`), 'node');
      await expect(search(place, { configured })).rejects.toMatchObject({
        code: 'extension_runtime_missing',
        message: expect.stringMatching(/need Node 22\.19 or newer of 22.*is 22\.18\.9/),
      });
      await expect(search(place, { configured: '/nowhere/node' })).rejects.toMatchObject({
        message: expect.stringMatching(/\/nowhere\/node does not run: ENOENT/),
      });
      await expect(search(place, { configured: 'node' })).rejects.toMatchObject({
        message: expect.stringMatching(/must be an absolute path/),
      });
    }));

  test('is not asked again until it is another one', () =>
    withPlace(async (place) => {
      const folder = fakeProgram(
        place,
        'node',
        `echo x >> "${place.folder}/asked"; echo '{"version":"24.1.0","dataBytes":1,"libraries":[]}'`,
      );
      const configured = join(folder, 'node');
      await search(place, { configured });
      await search(place, { configured });
      expect(readFileSync(join(place.folder, 'asked'), 'utf8')).toBe('x\n');
      fakeProgram(place, 'node', `echo '{"version":"24.2.0","dataBytes":1,"libraries":[]}' # another`);
      expect((await search(place, { configured })).version).toBe('24.2.0');
    }));
});

/** What the program says of itself when flags are missing around it. */
function selfTested(node: string, flags: readonly string[], confined: boolean): Promise<string> {
  return withPlace(async (place) => {
    const server = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const child = spawn(node, [...flags, PROGRAM], { env: { TMPDIR: place.data }, stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
    const channel = createChannel({
      side: 'core',
      stream: child.stdio[3] as Duplex,
      answer: async () => ({}),
      notice: () => {},
      violated: () => {},
    });
    try {
      const params = { protocol: 1, confined, probe_port: (server.address() as { readonly port: number }).port };
      return JSON.stringify(await channel.request('host/initialize', params));
    } catch (error) {
      return (error as Error).message;
    } finally {
      child.kill('SIGKILL');
      await new Promise((resolve) => child.once('exit', resolve));
      await new Promise((resolve) => server.close(resolve));
    }
  });
}

describe.each(RUNTIMES.map((node, index) => ({ node, name: `runtime ${index + 1}` })))('the self-test in $name', ({ node }) => {
  const permissions = ['--permission', `--allow-fs-read=${PROGRAM}`];
  const language = [
    '--disallow-code-generation-from-strings',
    '--disable-proto=throw',
    '--no-addons',
    '--no-experimental-sqlite',
    '--experimental-vm-modules',
  ];

  test.each([
    ['permissions', language, false, /^a plugin could read a file of the machine$/],
    [
      'the lock on text as code',
      [...permissions, '--no-experimental-sqlite', '--disable-proto=throw'],
      false,
      /^a plugin could make code of text$/,
    ],
    [
      'the lock on prototypes',
      [...permissions, '--disallow-code-generation-from-strings', '--no-experimental-sqlite'],
      false,
      /^a plugin could change a prototype by __proto__$/,
    ],
    [
      'the lock on databases',
      [...permissions, '--disallow-code-generation-from-strings', '--disable-proto=throw'],
      false,
      /^a plugin could open a database$/,
    ],
    ['the sandbox', [...permissions, ...language], true, /^a plugin could reach the machine by network$/],
  ] as const)('refuses to run without %s', async (_, flags, confined, told) => {
    expect(await selfTested(node, flags, confined)).toMatch(told);
  });

  test('tries everything when all is in place', async () => {
    const { tried } = JSON.parse(await selfTested(node, [...permissions, ...language], false)) as { readonly tried: readonly string[] };
    expect(tried.length).toBeGreaterThanOrEqual(16);
  });
});
