import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CLI_POLICIES } from '../../hosts/cli/policy.ts';
import { loadConfig } from '../../hosts/config/load.ts';
import { EMBED_POLICY } from '../../hosts/embed/policy.ts';
import type { Edges, HostEnvironment } from '../../hosts/environment.ts';
import type { HostPolicy } from '../../hosts/policy.ts';
import { openSandbox, probeSandbox, sandboxDuty } from '../../hosts/sandbox.ts';
import { hasCode } from '../../ports/errors.ts';
import { type DockerPlace, dockerPlace } from '../adapters/process/sandbox/docker-fixture.ts';
import { runIn } from '../adapters/process/sandbox/fixture.ts';

let root = '';
let docker: DockerPlace;
let told: string[] = [];
let asked: string[] = [];

beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'odek-host-sandbox-')));
  for (const folder of ['home/.odek', 'work']) await mkdir(join(root, folder), { recursive: true, mode: 0o700 });
  docker = await dockerPlace();
  told = [];
  asked = [];
});
afterEach(async () => {
  await docker.close();
  await rm(root, { recursive: true, force: true });
});

interface Given {
  readonly operator?: object;
  readonly project?: object;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: Readonly<Record<string, string | boolean>>;
  readonly dockerfile?: string;
}

async function environmentOf({ operator = {}, project, env = {}, flags = {}, dockerfile }: Given): Promise<HostEnvironment> {
  const [home, work] = [join(root, 'home'), join(root, 'work')];
  await writeFile(join(home, '.odek', 'config.json'), JSON.stringify(operator), { mode: 0o600 });
  if (project !== undefined) await writeFile(join(work, 'odek.json'), JSON.stringify(project));
  if (dockerfile !== undefined) await writeFile(join(work, 'Dockerfile.odek'), dockerfile);
  const variables = { PATH: process.env.PATH ?? '', HOME: home, ...env };
  const { config, warnings } = await loadConfig({ env: variables, cwd: work, flags, usesModel: false });
  told.push(...warnings);
  return {
    config,
    selection: { id: 'x', include_reasoning: true, model: 'm' },
    env: variables,
    workspace: work,
    systemPrompt: '',
    dataDirOf: () => '/nowhere',
    eventsIncludeArgs: false,
  };
}

const edges = (answer?: string): Edges => ({
  onEvent: () => {},
  log: (level, text) => {
    if (level === 'warning') told.push(text);
  },
  ...(answer !== undefined && {
    askOperator: async (text: string) => {
      asked.push(text);
      return answer;
    },
  }),
});

async function opened(given: Given, answer?: string, policy: HostPolicy = CLI_POLICIES.run) {
  const host = await openSandbox(policy, await environmentOf(given), edges(answer));
  await host.close();
  return host.sandbox?.confinement;
}

const MISSING = { env: { PATH: '/nowhere' } };

describe('whether there is a sandbox', () => {
  it.each([
    ['it is on where nothing is said', {}, CLI_POLICIES.run, 'preferred'],
    ['the operator turns it off', { operator: { sandbox: false } }, CLI_POLICIES.run, 'off'],
    ['a variable turns it off', { env: { ODEK_SANDBOX: 'false' } }, CLI_POLICIES.repl, 'off'],
    ['ODEK_NO_SANDBOX turns it off', { env: { ODEK_NO_SANDBOX: '1' } }, CLI_POLICIES.continue, 'off'],
    ['ODEK_NO_SANDBOX yields to ODEK_SANDBOX', { env: { ODEK_NO_SANDBOX: '1', ODEK_SANDBOX: 'true' } }, CLI_POLICIES.run, 'preferred'],
    ['a flag turns it off', { operator: { sandbox: true }, flags: { sandbox: false } }, CLI_POLICIES.run, 'off'],
    ['the flag asks for no less', { operator: { sandbox: false }, flags: { sandbox: true } }, CLI_POLICIES.run, 'required'],
    ['ODEK_REQUIRE_SANDBOX asks for no less', { env: { ODEK_REQUIRE_SANDBOX: '1' } }, CLI_POLICIES.run, 'required'],
    ['a program that embeds odek opts in', {}, EMBED_POLICY, 'off'],
    ['a program that opted in', { operator: { sandbox: true } }, EMBED_POLICY, 'preferred'],
    ['a project turns it on', { operator: { sandbox: false }, project: { sandbox: true } }, CLI_POLICIES.run, 'preferred'],
    ['a project does not turn it off', { project: { sandbox: false } }, CLI_POLICIES.run, 'preferred'],
  ] as const)('%s', async (_, given, policy, duty) => {
    expect(sandboxDuty((await environmentOf(given)).config, policy)).toBe(duty);
  });

  it('is an error where it is required and turned off', async () => {
    const { config } = await environmentOf({ env: { ODEK_REQUIRE_SANDBOX: '1' }, flags: { sandbox: false } });
    expect(() => sandboxDuty(config, CLI_POLICIES.run)).toThrow(/both required .* and turned off/);
  });

  it('cannot be turned off on a surface that requires it', async () => {
    const policy = { ...CLI_POLICIES.run, sandbox: { default: 'required', ceiling: 'required' } } as const;
    expect(sandboxDuty((await environmentOf({ operator: { sandbox: false } })).config, policy)).toBe('required');
  });
});

describe('the sandbox of a host', () => {
  it('is bwrap without a network, and commands run in it', async () => {
    const environment = await environmentOf({});
    const host = await openSandbox(CLI_POLICIES.run, environment, edges());
    if (host.sandbox === undefined) throw new Error('no sandbox');
    expect(host.sandbox.confinement).toEqual({ backend: 'bwrap', network: false, readonly: false, workspace: environment.workspace });
    expect((await runIn(host.sandbox, environment.env, environment.workspace, 'cat ~/.odek/config.json; pwd')).stdout).toBe(
      `${environment.workspace}\n`,
    );
    await host.close();
    expect(told).toEqual([]);
  });

  it('is missed in one loud line that says why and what to do', async () => {
    expect(await opened(MISSING)).toBeUndefined();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(
      /^NO SANDBOX: commands can reach all that you can: bwrap is not installed, and docker is not installed; to mend it: install bubblewrap/,
    );
    expect(told[0]).not.toContain('\n');
  });

  it('is missed in silence with ODEK_SUPPRESS_SANDBOX_WARNING', async () => {
    await opened({ env: { PATH: '/nowhere', ODEK_SUPPRESS_SANDBOX_WARNING: '1' } });
    expect(told).toEqual([]);
  });

  it('is refused to be done without where it is required, with the way out', async () => {
    const failure = await opened({ env: { PATH: '/nowhere', ODEK_REQUIRE_SANDBOX: '1' } }).catch((error: unknown) => error);
    expect(hasCode(failure, 'sandbox_unavailable')).toBe(true);
    expect((failure as Error).message).toMatch(/none may be done without: bwrap is not installed.*install bubblewrap.*--no-sandbox/);
  });

  it('is not tried where no command can run', async () => {
    expect(await opened({ ...MISSING, operator: { tools: { disabled: ['shell'] } } })).toBeUndefined();
    expect(told).toEqual([]);
  });

  it('is Docker where that is configured, or where bwrap is missing', async () => {
    const path = `${docker.environment.PATH?.split(':')[0]}:${join(root, 'bin')}`;
    await mkdir(join(root, 'bin'));
    for (const name of ['sh', 'dirname', 'cat'])
      execFileSync('ln', ['-s', execFileSync('which', [name], { encoding: 'utf8' }).trim(), join(root, 'bin', name)]);
    expect(await opened({ env: { PATH: path } })).toMatchObject({ backend: 'docker', network: false });
    expect(await opened({ operator: { sandbox_backend: 'docker' }, env: { PATH: docker.environment.PATH ?? '' } })).toMatchObject({
      backend: 'docker',
    });
    expect(await opened({ operator: { sandbox_backend: 'bwrap' }, env: { PATH: path } })).toBeUndefined();
    expect(told.at(-1)).toContain('bwrap is not installed;');
  });

  it('takes the network of the machine for no network, and says what bwrap cannot keep', async () => {
    expect(await opened({ operator: { sandbox_network: 'host' } })).toMatchObject({ network: false });
    expect(told).toEqual(['sandbox_network "host" counts as "none"']);
    expect(await opened({ operator: { sandbox_network: 'bridge', sandbox_cpus: '2' } })).toMatchObject({ network: true });
    expect(told.slice(1)).toEqual([
      'sandbox_network "bridge": bwrap shares the network of this machine, 127.0.0.1 included',
      'sandbox_cpus 2 has no effect: bwrap cannot limit processors',
    ]);
  });

  it('can be probed without making anything', async () => {
    expect(await probeSandbox(await environmentOf({}))).toBe('bwrap');
    await expect(probeSandbox(await environmentOf(MISSING))).rejects.toThrow('bwrap is not installed, and docker is not installed');
    await expect(stat(join(root, 'home', '.odek', 'sandbox'))).rejects.toThrow('ENOENT');
  });
});

describe('what a project asks for', () => {
  const NETWORK = { project: { sandbox_network: 'bridge' } };

  it('counts for nothing without a person, and is told', async () => {
    expect(await opened(NETWORK)).toMatchObject({ network: false });
    expect(told[0]).toMatch(/left out, as nobody can be asked: sandbox_network "bridge"; ODEK_APPROVE_PROJECT_SANDBOX=1/);
  });

  it.each([
    ['n', false],
    ['', false],
    ['y', true],
    ['t', true],
  ])('is asked about, and the answer %j makes it %s', async (answer, network) => {
    expect(await opened(NETWORK, answer)).toMatchObject({ network });
    expect(asked).toEqual([
      'this project wants for its commands: sandbox_network "bridge". Agree? y: this once, t: always, anything else: no',
    ]);
  });

  it('is trusted for good with t alone, and only while it stays the same', async () => {
    await opened(NETWORK, 'y');
    expect(await opened(NETWORK, 'n')).toMatchObject({ network: false });
    await opened(NETWORK, 't');
    const file = join(root, 'home', '.odek', 'project_sandbox_approvals.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(Object.values(JSON.parse(await readFile(file, 'utf8')))).toMatchObject([{ workspace: join(root, 'work') }]);
    expect(await opened(NETWORK)).toMatchObject({ network: true });
    expect(asked).toHaveLength(3);
    expect(await opened({ project: { sandbox_network: 'other' } })).toMatchObject({ network: false });
  });

  it('is agreed to with ODEK_APPROVE_PROJECT_SANDBOX, and yields to a variable of the operator', async () => {
    expect(await opened({ ...NETWORK, env: { ODEK_APPROVE_PROJECT_SANDBOX: '1' } })).toMatchObject({ network: true });
    expect(await opened({ ...NETWORK, env: { ODEK_SANDBOX_NETWORK: 'none' } }, 'y')).toMatchObject({ network: false });
    expect(asked).toEqual([]);
  });

  it('can be less without being asked for: read-only, and never writable again', async () => {
    expect(await opened({ project: { sandbox_readonly: true } })).toMatchObject({ readonly: true });
    expect(told).toEqual([]);
    expect(await opened({ operator: { sandbox_readonly: true }, project: { sandbox_readonly: false } })).toMatchObject({ readonly: true });
    expect(told[0]).toContain('sandbox_readonly false is ignored: a project can only turn it on');
  });

  it('is an image of its own only after somebody agreed to this very Dockerfile', async () => {
    const given = (dockerfile: string): Given => ({
      operator: { sandbox_backend: 'docker' },
      env: { PATH: docker.environment.PATH ?? '' },
      dockerfile,
    });
    const builds = async () => (await docker.calls()).filter(([verb]) => verb === 'build');
    await opened(given('FROM one'));
    await opened(given('FROM one'), 'no');
    expect(await builds()).toEqual([]);
    await opened(given('FROM one'), 't');
    await opened(given('FROM one'));
    expect(await builds()).toHaveLength(2);
    expect((await builds())[0]).toContain('none');
    await opened(given('FROM two'));
    expect(await builds()).toHaveLength(2);
    expect(asked.at(-1)).toMatch(/an image built from Dockerfile\.odek \(sha256 [0-9a-f]{12}\)/);
  });

  it('is left out where the Dockerfile is a link', async () => {
    await writeFile(join(root, 'real'), 'FROM x');
    execFileSync('ln', ['-s', join(root, 'real'), join(root, 'work', 'Dockerfile.odek')]);
    await opened({ operator: { sandbox_backend: 'docker' }, env: { PATH: docker.environment.PATH ?? '' } }, 'y');
    expect((await docker.calls()).filter(([verb]) => verb === 'build')).toEqual([]);
    expect(told[0]).toContain('Dockerfile.odek is left out');
  });
});
