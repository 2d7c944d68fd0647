import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import { CLI_POLICIES } from '../../../hosts/cli/policy.ts';
import { loadConfig } from '../../../hosts/config/load.ts';
import type { Consent } from '../../../hosts/mcp-client/consent.ts';
import { openMcpClient } from '../../../hosts/mcp-client/open.ts';
import type { HostPolicy } from '../../../hosts/policy.ts';
import type { RunEvent } from '../../../ports/event.ts';
import { isAlive } from '../../e2e/support/processes.ts';

const SERVER = fileURLToPath(new URL('../../e2e/support/mcp-server.mjs', import.meta.url));
const GOES_ON: HostPolicy = { ...CLI_POLICIES.run, mcp: { client: true, connectFailure: 'warn' } };
const never = new AbortController().signal;

let root: string;
let [state, work] = ['', ''];
beforeEach(async () => {
  root = await realpath(await mkdtemp(join(tmpdir(), 'odek-open-')));
  [state, work] = [join(root, 'state'), join(root, 'work')];
  for (const folder of [state, work]) await mkdir(folder, { mode: 0o700 });
  await writeFile(join(root, 'tools.json'), JSON.stringify([{ name: 'greet', description: 'Greets.', inputSchema: { type: 'object' } }]));
});
afterEach(() => rm(root, { recursive: true, force: true }));

const small = (more: object = {}): object => ({
  command: process.execPath,
  args: [SERVER, join(root, 'tools.json'), join(root, 'pids')],
  ...more,
});

async function open(
  files: { readonly operator?: object; readonly project?: object },
  policy: HostPolicy,
  more: { readonly consent?: Consent; readonly signal?: AbortSignal } = {},
) {
  await writeFile(join(state, 'config.json'), JSON.stringify({ mcp_servers: files.operator ?? {} }), { mode: 0o600 });
  await writeFile(join(work, 'odek.json'), JSON.stringify({ mcp_servers: files.project ?? {} }));
  const env = { ODEK_HOME: state, PATH: process.env.PATH };
  const { config } = await loadConfig({ env, cwd: work, flags: {}, usesModel: false });
  const registry = createToolRegistry();
  const told: string[] = [];
  const events: RunEvent[] = [];
  const environment = {
    config,
    selection: { id: 'none', include_reasoning: false, model: 'none' },
    env,
    workspace: work,
    systemPrompt: '',
    dataDirOf: (plugin: string) => join(state, plugin),
    eventsIncludeArgs: false,
  };
  const edges = {
    ...more,
    onEvent: (event: RunEvent) => void events.push(event),
    log: (level: string, text: string) => void told.push(`${level}: ${text}`),
  };
  const opening = openMcpClient(
    {
      policy,
      environment,
      edges,
      registry,
      hash: createSha256(),
      validator: createSchemaValidator(),
      redactor: createRedactor(config.secrets),
      clock: createSystemClock(),
      ids: createRandomIds(),
    },
    never,
  );
  return { opening, registry, told, events };
}

const pids = async (): Promise<readonly number[]> => (await readFile(join(root, 'pids'), 'utf8')).trim().split('\n').map(Number);

describe('a surface that goes on without a server', () => {
  it('has the tools of the others, and says what is missing', async () => {
    const files = {
      operator: { broken: { command: '/nowhere/to/be/found' }, good: small({ auto_approve: true }) },
      project: { foreign: small() },
    };
    const { opening, registry, told } = await open(files, GOES_ON);
    const source = await opening;
    expect(registry.list().map(({ spec }) => spec.name)).toEqual(['good__greet']);
    expect(source.servers().map(({ name, state: how, tools }) => [name, how, tools])).toEqual([
      ['good', 'connected', 1],
      ['broken', 'failed', 0],
      ['foreign', 'not_approved', 0],
    ]);
    expect(told).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^warning: MCP server "broken" is left out: /),
        expect.stringMatching(/^warning: this project's MCP server "foreign" is not approved, and left out; nobody can be asked here/),
      ]),
    );
    await source.close();
    expect(registry.list()).toEqual([]);
    expect((await pids()).filter(isAlive)).toEqual([]);
  });
});

describe('a surface that does not', () => {
  it('leaves no process when a name ends the start', async () => {
    await writeFile(join(root, 'tools.json'), JSON.stringify([{ name: 'a b', description: 'x', inputSchema: { type: 'object' } }]));
    const { opening, registry } = await open({ operator: { good: small({ auto_approve: true }) } }, CLI_POLICIES.run);
    await expect(opening).rejects.toMatchObject({ code: 'mcp_invalid_name' });
    expect(registry.list()).toEqual([]);
    expect((await pids()).filter(isAlive)).toEqual([]);
  });

  it('asks nobody where its policy names another approver, although a person is there', async () => {
    const consent: Consent = () => Promise.reject(new Error('asked'));
    const policy: HostPolicy = { ...CLI_POLICIES.run, approver: { default: 'none', ceiling: 'none' } };
    const { opening } = await open({ project: { foreign: small() } }, policy, { consent });
    await expect(opening).rejects.toMatchObject({ code: 'mcp_server_not_approved', value: ['foreign'] });
  });

  it('makes room for its questions, and is given up with them', async () => {
    const cancel = new AbortController();
    const consent: Consent = (_, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(Object.assign(new Error('given up'), { code: 'cancelled' })));
        cancel.abort();
      });
    const { opening, events } = await open({ project: { foreign: small() } }, CLI_POLICIES.run, { consent, signal: cancel.signal });
    await expect(opening).rejects.toThrow('given up');
    expect(events.map(({ type }) => type)).toEqual(['question_asked', 'question_answered']);
    await expect(pids()).rejects.toThrow('ENOENT');
  });
});
