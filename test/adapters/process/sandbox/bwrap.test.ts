import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chown, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hasCode } from '../../../../ports/errors.ts';
import { CANARY, countWith, runIn, type SandboxPlace, sandboxPlace, uniqueMinute } from './fixture.ts';

const OWNER = fileURLToPath(new URL('./owner.ts', import.meta.url));

let place: SandboxPlace;
beforeAll(async () => {
  place = await sandboxPlace();
});
afterAll(() => place.close());

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 500; wait += 1) {
    if (await holds()) return;
    await sleep(20);
  }
  throw new Error(`${what} did not happen within 10 s`);
}

/** What a command wrote, both streams together. */
async function said(command: string): Promise<string> {
  const { stdout, stderr } = await place.run(command);
  return `${stdout}${stderr}`;
}

describe('a command in the sandbox cannot', () => {
  it.each([
    ['the state folder', 'cat ~/.odek/secrets.env; ls -a ~/.odek'],
    ['another folder of the home', 'cat ~/other/notes; ls ~/other'],
    ['keys and passwords of the home', 'cat ~/.ssh/id_ed25519 ~/.netrc; ls -a ~/.ssh'],
    ['what lies beside the working directory', 'cat ../other/notes ../.odek/secrets.env'],
    ['a secret by a link that it makes', 'ln -s ~/.odek/secrets.env link; cat link; rm link'],
    ['the environment of odek', 'cat /proc/1/environ /proc/$PPID/environ /proc/*/environ; env'],
  ])('read %s', async (_, command) => {
    const output = await said(command);
    expect(output).not.toContain(CANARY);
    expect(output.length).toBeGreaterThan(0);
  });

  it('read the shadow passwords or other settings of the system', async () => {
    expect(await said('cat /etc/shadow /etc/gshadow /etc/sudoers')).toMatch(/No such file[\s\S]*No such file[\s\S]*No such file/);
    expect(await said('ls /var/lib /srv /mnt /media /sys /boot 2>&1 >/dev/null | wc -l')).toBe('6\n');
  });

  it('reach a port of this machine, or any address', async () => {
    let calls = 0;
    const server = createServer((socket) => {
      calls += 1;
      socket.end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { readonly port: number };
    try {
      const script = `require('node:net').connect(${port}, '127.0.0.1').on('connect', () => console.log('reached')).on('error', (e) => console.log(e.code))`;
      expect(await said(`node -e "${script}"`)).toBe('ECONNREFUSED\n');
      expect(calls).toBe(0);
      expect(await said('cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " "')).toBe('lo\n');
    } finally {
      server.close();
    }
  });

  it.each([
    '/etc/odek-test',
    '/usr/odek-test',
    '/usr/bin/odek-test',
    '/opt/odek-test',
    '/odek-test',
    '/lib/odek-test',
    '/etc/ssl/certs/odek-test',
  ])('write %s', async (path) => {
    expect(await said(`touch ${path} && echo written`)).not.toContain('written');
    expect(existsSync(path)).toBe(false);
  });

  it('set the kernel, not even as root', async () => {
    const writable = await said(
      'for f in /proc/sys/kernel/core_pattern /proc/sys/vm/drop_caches /proc/sysrq-trigger; do [ -w $f ] && echo $f; done; echo over',
    );
    expect(writable).toBe('over\n');
    expect(
      await said(
        'find /proc -maxdepth 4 -type f -writable -not -path "/proc/[0-9]*" 2>/dev/null | head -1; mount -o remount,rw /proc && echo mounted',
      ),
    ).not.toMatch(/proc\/[a-z]|mounted$/);
  });

  it('get out by namespaces of its own', async () => {
    const inner =
      'mount -t proc none /tmp && echo mounted; mount -o remount,rw /usr && echo mounted; umount -l /usr && echo unmounted; mount -t tmpfs none /tmp && echo mounted';
    const output = await said(`unshare -Urmpf sh -c '${inner}'; unshare -Ump sh -c '${inner}'; echo over`);
    expect(output).not.toMatch(/^(un)?mounted$/m);
    expect(output).toMatch(/over\n/);
  });

  it('leave anything outside the working directory', async () => {
    await place.run('echo x > ~/left; echo x > ../left; echo x > /tmp/odek-sandbox-left; mkdir -p ~/.odek; echo x > ~/.odek/config.json');
    for (const path of [join(place.home, 'left'), '/tmp/odek-sandbox-left', join(place.state, 'config.json')])
      expect(existsSync(path)).toBe(false);
    expect(await readFile(join(place.state, 'secrets.env'), 'utf8')).toBe(CANARY);
  });

  it('see or kill odek or any process of the machine', async () => {
    const bystander = spawn('sleep', ['60']);
    try {
      await said(`kill -9 ${process.pid} ${bystander.pid} ${process.ppid}; kill -9 -1`);
      expect(bystander.exitCode).toBeNull();
      expect(bystander.signalCode).toBeNull();
      expect((await said('ls -d /proc/[0-9]* | wc -l')).trim()).toMatch(/^[3-7]$/);
    } finally {
      bystander.kill('SIGKILL');
    }
  });

  it('get a capability or more rights than odek has', async () => {
    const status = await said('grep -E "CapEff|CapPrm|NoNewPrivs" /proc/self/status');
    expect(status).toMatch(/CapPrm:\s+0+\nCapEff:\s+0+\nNoNewPrivs:\s+1\n/);
    expect(await said('mount -t tmpfs none /tmp && echo mounted; mknod dev b 8 0 && echo made; chroot / true && echo changed')).not.toMatch(
      /mounted|made|changed/,
    );
  });
});

describe('processes of a command in the sandbox', () => {
  it('end with it, and the result says so', async () => {
    const minute = uniqueMinute();
    const result = await place.run(`sleep ${minute} & setsid nohup sleep ${minute} >/dev/null 2>&1 & echo over`);
    expect(result).toMatchObject({ stdout: 'over\n', exitCode: 0, leftovers: true });
    await until('their end', async () => (await countWith(minute)) === 0);
    expect((await place.run('sleep 0.01 & wait')).leftovers).toBeUndefined();
  });

  it('end when it is cancelled, those that cleared their environment and left their session included', async () => {
    const minute = uniqueMinute();
    const controller = new AbortController();
    const running = place.run(`env -i setsid sleep ${minute} & sleep ${minute}`, controller.signal);
    await until('the start', async () => (await countWith(minute)) === 2);
    controller.abort();
    await expect(running).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
    await until('their end', async () => (await countWith(minute)) === 0);
  });

  it('end at once when odek is killed with SIGKILL', async () => {
    const minute = uniqueMinute();
    const owner = spawn(process.execPath, [OWNER, place.work, place.state, place.home, `env -i setsid sleep ${minute} & sleep ${minute}`]);
    await until('the start', async () => (await countWith(minute)) === 2);
    owner.kill('SIGKILL');
    await once(owner, 'exit');
    await until('their end', async () => (await countWith(minute)) === 0);
    // What it kept of its own is removed by the next one.
    const left = await readdir(join(place.state, 'sandbox'));
    const next = await place.open({});
    await runIn(next, place.environment, place.work, 'true');
    expect((await readdir(join(place.state, 'sandbox'))).filter((name) => left.includes(name))).toHaveLength(1);
  });

  it('that write without end are read and cut', async () => {
    const { stdout, stdoutTruncated, exitCode } = await place.run('yes | head -c 30000000; echo; echo end >&2');
    expect([stdout.length, stdoutTruncated, exitCode]).toEqual([100_000, true, 0]);
  });
});

describe('ordinary work in the sandbox', () => {
  it('commits with git under the name of the user, whose credentials stay outside', async () => {
    const { stdout, exitCode } = await place.run(
      'mkdir -p repo && cd repo && git init -q && echo one > a && git add a && git commit -qm "first" && git log --format="%an <%ae> %s"; git config --global --list',
    );
    expect(exitCode).toBe(0);
    expect(stdout).toBe('Ada Example <ada@example.org> first\nuser.name=Ada Example\nuser.email=ada@example.org\n');
    expect(existsSync(join(place.work, 'repo', '.git', 'HEAD'))).toBe(true);
  });

  it('runs node, and the tests of a package without a network', async () => {
    expect(await said('node -e "console.log(6 * 7)"')).toBe('42\n');
    await mkdir(join(place.work, 'pack'), { recursive: true });
    await writeFile(join(place.work, 'pack', 'package.json'), JSON.stringify({ name: 'pack', scripts: { test: 'node --test' } }));
    await writeFile(join(place.work, 'pack', 'it.test.mjs'), "import { test } from 'node:test'; test('holds', () => {});");
    const { stdout, exitCode } = await place.run('cd pack && npm test');
    expect(stdout).toContain('pass 1');
    expect(exitCode).toBe(0);
  });

  it('writes files where odek sees them, under the same path', async () => {
    expect(await said('pwd; echo made > made.txt; chmod 600 made.txt')).toBe(`${place.work}\n`);
    expect(await readFile(join(place.work, 'made.txt'), 'utf8')).toBe('made\n');
  });

  it('keeps what is in /tmp and in the home for the next command, and gives it back at the end', async () => {
    const own = await place.open({});
    await runIn(own, place.environment, place.work, 'echo one > /tmp/a; echo two > ~/b; mkdir ~/.cache');
    expect((await runIn(own, place.environment, place.work, 'cat /tmp/a ~/b; echo $TMPDIR')).stdout).toBe('one\ntwo\n/tmp\n');
    const before = await readdir(join(place.state, 'sandbox'));
    await own.close();
    expect((await readdir(join(place.state, 'sandbox'))).length).toBe(before.length - 1);
  });

  it('hands on the exit code, both streams and the input', async () => {
    expect(await place.run('cat; echo out; echo err >&2; exit 9')).toMatchObject({ stdout: 'out\n', stderr: 'err\n', exitCode: 9 });
    expect((await place.run('kill -TERM $$')).exitCode).toBe(143);
  });

  it('finds programs of folders on the search path that are not the system’s', async () => {
    const tools = join(place.root, 'tools', 'bin');
    await mkdir(tools, { recursive: true });
    await writeFile(join(tools, 'greet'), '#!/bin/sh\necho hello from $0\n', { mode: 0o755 });
    const environment = { ...place.environment, PATH: `${tools}:${place.environment.PATH}` };
    const sandbox = await place.open({ environment });
    expect((await runIn(sandbox, environment, place.work, 'greet; touch $(dirname $(command -v greet))/x')).stdout).toBe(
      `hello from ${join(tools, 'greet')}\n`,
    );
    expect(await readdir(tools)).toEqual(['greet']);
  });
});

describe('the sandbox', () => {
  it('can keep the working directory from being written', async () => {
    const sandbox = await place.open({ readonly: true });
    const { stdout, stderr } = await runIn(
      sandbox,
      place.environment,
      place.work,
      'ls >/dev/null && touch nothing; echo x > /tmp/x && cat /tmp/x',
    );
    expect([stdout, /Read-only/.test(stderr)]).toEqual(['x\n', true]);
    expect(sandbox.confinement).toEqual({ backend: 'bwrap', network: false, readonly: true, workspace: place.work });
  });

  it('limits the memory that a process takes for its data', async () => {
    const sandbox = await place.open({ memoryBytes: 64 * 1024 * 1024 });
    const { stdout } = await runIn(sandbox, place.environment, place.work, 'ulimit -d; ulimit -d unlimited 2>/dev/null && echo lifted');
    expect(stdout).toBe('65536\n');
  });

  it('shares the network only where it is told to', async () => {
    const sandbox = await place.open({ network: true });
    const { stdout } = await runIn(sandbox, place.environment, place.work, 'readlink /proc/self/ns/net');
    expect(stdout.trim()).not.toBe((await said('readlink /proc/self/ns/net')).trim());
  });

  it('covers what is secret where the working directory is the home itself', async () => {
    const sandbox = await place.open({ workspace: place.home });
    const { stdout, stderr } = await runIn(
      sandbox,
      place.environment,
      place.home,
      'cat .odek/secrets.env .ssh/* .netrc; ls other; cat other/notes',
    );
    expect(stdout).toBe(`notes\n${CANARY}`);
    expect(stderr).toContain('secrets.env');
    expect(await readFile(join(place.home, '.netrc'), 'utf8')).toBe(CANARY);
  });

  it('lets root work in a folder of somebody else, and nowhere else', async () => {
    const foreign = join(place.root, 'foreign');
    await mkdir(foreign, { mode: 0o700 });
    if (process.getuid?.() === 0) await chown(foreign, 12_345, 12_345);
    const sandbox = await place.open({ workspace: foreign });
    const { stdout, stderr } = await runIn(
      sandbox,
      place.environment,
      foreign,
      'echo made > made; cat made; git init -q . && git status --porcelain; touch /etc/x /usr/x; cat ~/.odek/secrets.env /etc/shadow; mount -t tmpfs n /tmp && echo mounted; mount -o remount,rw /proc && echo mounted; [ -w /proc/sys/kernel/core_pattern ] && echo writable; [ -w /proc/sysrq-trigger ] && echo writable',
    );
    expect(stdout).toBe('made\n?? made\n');
    expect(stderr.match(/Read-only file system/g)).toHaveLength(2);
    expect(await readFile(join(foreign, 'made'), 'utf8')).toBe('made\n');
  });

  it('covers what is made in such a place after it was opened', async () => {
    const home = join(place.root, 'fresh');
    const stateDir = join(home, '.odek');
    await mkdir(home);
    const sandbox = await place.open({ workspace: home, home, stateDir });
    await mkdir(stateDir);
    await mkdir(join(home, '.ssh'));
    for (const file of [join(stateDir, 'odek.db'), join(home, '.ssh', 'id')]) await writeFile(file, CANARY);
    const { stdout, stderr } = await runIn(sandbox, place.environment, home, 'cat .odek/* .ssh/*; ls -A');
    expect(`${stdout}${stderr}`).not.toContain(CANARY);
    expect(stdout).toBe('.odek\n.ssh\n');
  });

  it('starts nothing outside its working directory', async () => {
    for (const cwd of [place.home, join(place.work, 'missing')]) {
      await expect(runIn(place.sandbox, place.environment, cwd, 'true')).rejects.toSatisfy((error) => hasCode(error, 'spawn_failed'));
    }
  });

  it('is refused in /, and where bwrap is missing or comes with the project', async () => {
    const refusal = (changes: Parameters<SandboxPlace['open']>[0]) => expect(place.open(changes)).rejects;
    await refusal({ workspace: '/' }).toThrow('the working directory is /');
    await refusal({ environment: { PATH: '/nowhere' } }).toThrow('bwrap is not installed');
    const planted = join(place.work, 'bin');
    await mkdir(planted, { recursive: true });
    await writeFile(join(planted, 'bwrap'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    await refusal({ environment: { PATH: planted } }).toThrow('bwrap is not installed');
  });

  it('tells in the words of bwrap why it does not run', async () => {
    const broken = join(place.root, 'broken');
    await mkdir(broken, { recursive: true });
    await writeFile(join(broken, 'bwrap'), '#!/bin/sh\necho "bwrap: setting up uid map: Permission denied" >&2\nexit 1\n', { mode: 0o755 });
    const failure = await place.open({ environment: { PATH: `${broken}:${dirname('/bin/sh')}` } }).catch((error: unknown) => error);
    expect(failure).toMatchObject({
      code: 'sandbox_unavailable',
      message: 'bwrap does not run here: bwrap: setting up uid map: Permission denied',
      advice: expect.stringContaining('user namespaces'),
    });
  });
});
