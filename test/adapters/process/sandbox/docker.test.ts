import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { identityOf } from '../../../../adapters/process/identity.ts';
import { createJobRunner } from '../../../../adapters/process/jobs.ts';
import { type DockerOptions, findDocker, openDocker } from '../../../../adapters/process/sandbox/docker.ts';
import { buildImage } from '../../../../adapters/process/sandbox/docker-image.ts';
import type { Sandbox } from '../../../../adapters/process/sandbox/sandbox.ts';
import { hasCode } from '../../../../ports/errors.ts';
import { type DockerPlace, dockerPlace } from './docker-fixture.ts';
import { countWith, runIn, uniqueMinute } from './fixture.ts';

let place: DockerPlace;
const opened: Sandbox[] = [];
beforeEach(async () => {
  place = await dockerPlace();
});
afterEach(async () => {
  for (const sandbox of opened.splice(0)) await sandbox.close();
  await place.close();
});

async function open(changes: Partial<DockerOptions> = {}): Promise<Sandbox> {
  const { environment, work, state } = place;
  const client = await findDocker(environment, work);
  const options = { environment, workspace: work, stateDir: state, network: 'none', readonly: false, user: '1000:1000', retryMs: 1 };
  const sandbox = openDocker(client, { ...options, ...changes });
  opened.push(sandbox);
  return sandbox;
}

const run = (sandbox: Sandbox, command: string, signal?: AbortSignal) => runIn(sandbox, place.environment, place.work, command, signal);
const callsOf = async (verb: string) => (await place.calls()).filter(([first]) => first === verb);

async function until(what: string, holds: () => Promise<boolean>): Promise<void> {
  for (let wait = 0; wait < 500; wait += 1) {
    if (await holds()) return;
    await sleep(20);
  }
  throw new Error(`${what} did not happen within 10 s`);
}

describe('the container of a session', () => {
  it('is made with the first command, once, with these very arguments', async () => {
    const sandbox = await open({ image: 'node:24', memory: '512m', cpus: '1.5' });
    expect(await callsOf('run')).toEqual([]);
    expect((await run(sandbox, 'echo one')).stdout).toBe('one\n');
    await run(sandbox, 'echo two');
    const [made, ...more] = await callsOf('run');
    expect(more).toEqual([]);
    const name = made?.[4] ?? '';
    expect(name).toMatch(/^odek-[0-9a-f]{16}$/);
    expect(made).toEqual([
      ...['run', '--detach', '--init', '--name', name, '--label', 'odek.sandbox=1', '--network', 'none', '--cap-drop', 'ALL'],
      ...['--security-opt', 'no-new-privileges', '--pids-limit', '1024', '--tmpfs', '/tmp:rw,noexec,nosuid,nodev,size=512m,mode=1777'],
      ...['--env', 'HOME=/tmp', '--user', '1000:1000', '--workdir', '/workspace'],
      ...['--mount', `type=bind,source=${place.work},target=/workspace`],
      ...[
        '--memory',
        '512m',
        '--memory-swap',
        '512m',
        '--cpus',
        '1.5',
        '--entrypoint',
        'sh',
        'node:24',
        '-c',
        'while :; do sleep 3600; done',
      ],
    ]);
  });

  it('is of alpine and of your own user unless told otherwise, and read-only where it has to be', async () => {
    const { environment, work, state } = place;
    const client = await findDocker(environment, work);
    const sandbox = openDocker(client, { environment, workspace: work, stateDir: state, network: 'none', readonly: true });
    opened.push(sandbox);
    await run(sandbox, 'true');
    const [made = []] = await callsOf('run');
    expect(made).toContain('alpine:latest');
    expect(made).toContain(`type=bind,source=${place.work},target=/workspace,readonly`);
    expect(made[made.indexOf('--user') + 1]).toBe(`${process.getuid?.()}:${process.getgid?.()}`);
    expect(sandbox.confinement).toEqual({ backend: 'docker', network: false, readonly: true, workspace: '/workspace' });
  });

  it('does not show a state folder that lies in the working directory', async () => {
    const state = join(place.work, '.odek');
    await mkdir(state);
    await run(await open({ stateDir: state }), 'true');
    const [made = []] = await callsOf('run');
    expect(made.join(' ')).toContain('--tmpfs /workspace/.odek ');
  });

  it('gets no variable of odek but those that find the engine', async () => {
    const sandbox = await open();
    const { stdout } = await run(sandbox, 'env');
    expect(stdout).not.toContain('canary-docker');
    expect(await place.file('environment')).not.toContain('canary-docker');
    expect(await place.file('environment')).toContain('DOCKER_HOST=unix:///nowhere.sock');
    const [exec = []] = await callsOf('exec');
    const variables = exec.filter((_, at) => exec[at - 1] === '--env').map((each) => each.split('=')[0]);
    expect(variables).toContain('ODEK_JOB');
    expect(variables.filter((name) => ['PATH', 'HOME', 'USER', 'TMPDIR'].includes(name ?? ''))).toEqual([]);
  });

  it('is removed at the end, with up to three tries', async () => {
    const sandbox = await open();
    await run(sandbox, 'true');
    expect(await readdir(join(place.state, 'containers'))).toHaveLength(1);
    await place.fail('rm', 2);
    await sandbox.close();
    await sandbox.close();
    const [made = []] = await callsOf('run');
    expect(await callsOf('rm')).toEqual(Array.from({ length: 3 }, () => ['rm', '--force', made[4]]));
    expect(await readdir(join(place.state, 'containers'))).toEqual([]);
    await expect(run(sandbox, 'true')).rejects.toSatisfy((error) => hasCode(error, 'spawn_failed'));
  });

  it('stays on record when it cannot be removed, and goes with the next start', async () => {
    const sandbox = await open();
    await run(sandbox, 'true');
    await place.fail('rm', 3);
    await sandbox.close();
    const [record = ''] = await readdir(join(place.state, 'containers'));
    // As it looks once the process that made it is gone.
    const gone = `${identityOf(process.pid)?.replace(/\d+$/, '')}1`;
    await writeFile(join(place.state, 'containers', record), JSON.stringify({ pid: process.pid, identity: gone }));
    await run(await open(), 'true');
    const name = record.replace('.json', '');
    await until('its removal', async () => (await callsOf('rm')).filter((call) => call.includes(name)).length === 4);
  });

  it('that cannot be started fails the command, and is tried again with the next', async () => {
    const sandbox = await open();
    await place.fail('run', 1);
    await expect(run(sandbox, 'true')).rejects.toThrow('the container could not be started: cannot run now');
    expect((await run(sandbox, 'echo now')).stdout).toBe('now\n');
  });
});

describe('a command in a container', () => {
  it('reaches it as an argument, whatever is written in it, with its input', async () => {
    const sandbox = await open();
    const command = 'cat; printf "%s" "$(echo \'a "b" $HOME\')"; echo; echo err >&2; exit 7';
    const { createProcessRunner } = await import('../../../../adapters/process/node.ts');
    const runner = createProcessRunner({ environment: place.environment, launcher: sandbox });
    const result = await runner.run(
      { command, cwd: place.work, stdin: 'input ', maxBytes: 1000, timeoutMs: 20_000 },
      new AbortController().signal,
    );
    expect(result).toMatchObject({ stdout: 'input a "b" $HOME\n', stderr: 'err\n', exitCode: 7 });
    expect((await callsOf('exec'))[0]?.at(-1)).toBe(command);
  });

  it('runs in the folder below /workspace that stands for its own', async () => {
    const sandbox = await open();
    await mkdir(join(place.work, 'deep', 'er'), { recursive: true });
    const { stdout } = await runIn(sandbox, place.environment, join(place.work, 'deep', 'er'), 'pwd');
    expect(stdout).toBe(`${join(place.work, 'deep', 'er')}\n`);
    expect((await callsOf('exec'))[0]?.slice(0, 4)).toEqual(['exec', '--interactive', '--workdir', '/workspace/deep/er']);
    await expect(runIn(sandbox, place.environment, place.state, 'true')).rejects.toSatisfy((error) => hasCode(error, 'spawn_failed'));
  });

  it('is killed inside with its group when it is cancelled', async () => {
    const sandbox = await open();
    const minute = uniqueMinute();
    const controller = new AbortController();
    const running = run(sandbox, `sleep ${minute} & sleep ${minute}`, controller.signal);
    await until('the start', async () => (await countWith(minute)) === 2);
    controller.abort();
    await expect(running).rejects.toSatisfy((error) => hasCode(error, 'cancelled'));
    await until('the end', async () => (await countWith(minute)) === 0);
    const kill = (await callsOf('exec')).at(-1) ?? [];
    expect(kill.slice(0, 4)).toEqual(['exec', (await callsOf('run'))[0]?.[4], 'sh', '-c']);
  });

  it('takes what it leaves in its group along when it ends', async () => {
    const sandbox = await open();
    const minute = uniqueMinute();
    await run(sandbox, `sleep ${minute} >/dev/null 2>&1 & echo over`);
    await until('the end', async () => (await countWith(minute)) === 0);
  });

  it('can be a job that is stopped', async () => {
    const sandbox = await open();
    const jobs = createJobRunner({ environment: place.environment, recordsFolder: join(place.state, 'jobs'), launcher: sandbox });
    const minute = uniqueMinute();
    const job = await jobs.start({ command: `echo up; sleep ${minute}`, cwd: place.work }, () => {});
    await until('the start', async () => (await countWith(minute)) === 1);
    expect(await job.stop()).toEqual({ status: 'killed' });
    await until('the end', async () => (await countWith(minute)) === 0);
    await jobs.close();
  });
});

describe('the engine', () => {
  it('that does not answer, or is not there, is told with the way out', async () => {
    await place.fail('version', 1);
    await expect(open()).rejects.toMatchObject({ code: 'sandbox_unavailable', message: 'docker does not answer: cannot version now' });
    await expect(findDocker({ PATH: '/nowhere' }, place.work)).rejects.toThrow('docker is not installed');
  });

  it('builds the image of a project from the text that was agreed to, without a network', async () => {
    const client = await findDocker(place.environment, place.work);
    await writeFile(join(place.work, 'Dockerfile.odek'), 'FROM changed-since');
    const build = (network: boolean) => buildImage(client, { dockerfile: 'FROM agreed', workspace: place.work, network });
    const tag = await build(false);
    expect(tag).toMatch(/^odek-project:[0-9a-f]{24}$/);
    expect(await callsOf('build')).toEqual([['build', '--tag', tag, '--network', 'none', '--file', '-', place.work]]);
    expect(await place.file('dockerfile')).toBe('FROM agreed');
    await build(true);
    expect((await callsOf('build'))[1]).toContain('default');
    await place.fail('build', 1);
    await expect(build(false)).rejects.toMatchObject({ code: 'sandbox_unavailable', advice: expect.stringContaining('BUILD_NETWORK') });
  });

  it('is asked to remove the container when odek exits without closing', async () => {
    const script = `
      import { findDocker, openDocker } from ${JSON.stringify(new URL('../../../../adapters/process/sandbox/docker.ts', import.meta.url).href)};
      import { createProcessRunner } from ${JSON.stringify(new URL('../../../../adapters/process/node.ts', import.meta.url).href)};
      const [work, state] = process.argv.slice(-2);
      const launcher = openDocker(await findDocker(process.env, work), { environment: process.env, workspace: work, stateDir: state, network: 'none', readonly: false });
      await createProcessRunner({ environment: process.env, launcher }).run({ command: 'true', cwd: work, maxBytes: 10, timeoutMs: 9000 }, new AbortController().signal);
      process.exit(0);`;
    const child = spawn(process.execPath, ['--input-type=module', '-e', script, place.work, place.state], {
      env: { ...place.environment },
    });
    let words = '';
    child.stderr.on('data', (text) => {
      words += text;
    });
    expect([(await once(child, 'exit'))[0], words]).toEqual([0, '']);
    await until('the removal', async () => (await callsOf('rm')).length === 1);
    expect(await readFile(join(place.state, 'containers', (await readdir(join(place.state, 'containers')))[0] ?? ''), 'utf8')).toContain(
      '"pid"',
    );
  });
});
