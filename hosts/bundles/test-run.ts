import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readText, removeTree } from '../../adapters/bundles/snapshot.ts';
import { createExtensionHostLauncher } from '../../adapters/extension-host/index.ts';
import { createSchemaValidator } from '../../adapters/schema/ajv.ts';
import { displayText } from '../../core/approvals/display.ts';
import { problemLine, shown } from '../../core/bundles/problem.ts';
import { type PluginTestCase, type PluginTestFile, parseTestFile } from '../../core/bundles/test-file.ts';
import { registrationFault } from '../../core/extensions/registration.ts';
import type { ExtensionHost, HostNotice, HostRequest, OwnerRef, Registration } from '../../ports/extension-host.ts';
import { HostRefusal } from '../../ports/extension-host.ts';
import type { Hash } from '../../ports/hash.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { extensionProgram } from '../extension-child/program.ts';
import { BUILT_IN_COMMANDS } from '../plugin-host/built-in-commands.ts';
import { type Inspection, inspectBundle, isUsable } from './inspect.ts';
import { bundlePlaces } from './places.ts';
import { ensureStaged } from './shelf.ts';

export interface TestRunOptions {
  readonly config: Pick<ResolvedConfig, 'extension_host' | 'state'>;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly hash: Hash;
  readonly signal: AbortSignal;
  out(line: string): void;
}

const TEST_FILE = 'plugin.test.json';
const MAX_TEST_BYTES = 1024 * 1024;
const DEADLINE_MS = 30_000;

type Usable = Inspection & { readonly manifest: NonNullable<Inspection['manifest']> };

/**
 * Runs the code of a folder in the real process of plugins, with a data folder that is gone afterwards, and makes the
 * calls of its `plugin.test.json`. Tells what was registered, the effects by their labels, and what was left behind.
 * Resolves with whether all was as it should be.
 */
export async function testPlugin(folder: string, options: TestRunOptions): Promise<boolean> {
  const { hash, out, signal, config } = options;
  const found = await inspectBundle(folder, { scope: 'user' }, hash, signal);
  for (const problem of found.problems) out(problemLine(problem));
  if (!isUsable(found)) return false;
  const text = found.files.some(({ path }) => path === TEST_FILE) ? await readText(join(folder, TEST_FILE), MAX_TEST_BYTES) : '{}';
  const file = text === undefined ? `it is no text of at most ${MAX_TEST_BYTES} bytes` : parseTestFile(text);
  if (typeof file === 'string') {
    out(`${TEST_FILE}: ${file}`);
    return false;
  }
  if (found.manifest.native.length === 0) {
    out('It has no code; there is nothing to run.');
    return file.cases.length === 0;
  }
  const scratch = join(config.state.home, 'extension-host', `test-${process.pid}-${crypto.randomUUID()}`);
  try {
    return await inHost(found, file, scratch, options);
  } finally {
    await removeTree(scratch);
  }
}

async function inHost(found: Usable, file: PluginTestFile, scratch: string, options: TestRunOptions): Promise<boolean> {
  const { config, cwd, env, hash, signal, out } = options;
  const dataDir = join(scratch, 'data');
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  const { root, table } = await ensureStaged(
    { ...bundlePlaces(config.state, cwd), snapshots: join(scratch, 'snapshot') },
    hash,
    found,
    'again',
  );
  const core = testCore(out);
  const { node, allow_unsandboxed: allowUnsandboxed } = config.extension_host;
  const launcher = createExtensionHostLauncher({
    ...{ program: extensionProgram(), stateDir: config.state.home, workspace: cwd, environment: env, allowUnsandboxed },
    ...(node !== undefined && { node }),
  });
  const host = await launcher.start({ name: `test of ${found.manifest.name}`, readable: [root], writable: [dataDir] }, core, signal);
  try {
    const owner: OwnerRef = { plugin_id: found.manifest.name, generation: 1, owner_token: crypto.randomUUID() };
    const activated = await host.activate(
      {
        ...{ owner, plugin_name: found.manifest.name, root, files: table, config: file.config, data_dir: dataDir, services: [] },
        entries: found.manifest.native.map((path) => ({ path, sha256: table[path] ?? '' })),
      },
      signal,
    );
    let isFine = true;
    for (const { entry, status, diagnostic, effects } of activated.entries) {
      out(`${status === 'ok' ? 'ok    ' : 'FAILED'} ${entry}${status === 'ok' ? '' : `: ${displayText(diagnostic)}`}`);
      for (const label of effects) out(`       effect: ${displayText(label, 200)}`);
      isFine &&= status === 'ok';
    }
    for (const spec of core.registered.values()) out(`       registered: ${spec.kind} ${displayText(spec.name, 100)}`);
    for (const each of file.cases) isFine = (await runCase(each, host, core.registered, options)) && isFine;
    const { disposed, leaked } = await host.deactivate(owner);
    const left = [...leaked, ...[...core.registered.values()].map(({ kind, name }) => `${kind} ${name}`)];
    if (!disposed) out('FAILED it did not end within 2 s of being disposed');
    for (const each of left) out(`FAILED left behind after it was disposed: ${displayText(each, 200)}`);
    if (disposed && left.length === 0) out('ok     nothing is left behind after it was disposed');
    return isFine && disposed && left.length === 0 && core.faults() === 0;
  } finally {
    await host.close();
  }
}

/** Core as a test needs it: it keeps what is registered, checks schemas, and gives no service. */
function testCore(out: (line: string) => void) {
  const registered = new Map<string, Registration>();
  const validator = createSchemaValidator();
  let handles = 0;
  let faulted = 0;
  return {
    registered,
    faults: () => faulted,
    async request(request: HostRequest): Promise<unknown> {
      switch (request.method) {
        case 'registry/register': {
          const { spec } = request.params;
          const isTaken =
            spec.kind !== 'hook' && [...registered.values()].some(({ kind, name }) => kind === spec.kind && name === spec.name);
          const fault = registrationFault(spec, BUILT_IN_COMMANDS);
          if (fault !== undefined) throw new HostRefusal('refused', fault);
          if (isTaken) throw new HostRefusal('refused', `there is a ${spec.kind} "${spec.name}" already`);
          if (spec.kind === 'tool') await validator.compile(spec.input_schema);
          const handle = `h${++handles}`;
          registered.set(handle, spec);
          return { handle };
        }
        case 'registry/unregister':
          registered.delete(request.params.handle);
          return {};
        case 'schema/check': {
          const check = await validator.compile(request.params.schema);
          const issues = check(request.params.value).slice(0, 5);
          return { issues: issues.map(({ path, message }) => `${path === '' ? '(value)' : path} ${message}`) };
        }
        default:
          throw new HostRefusal('unavailable', 'a test has no core to ask');
      }
    },
    notice(notice: HostNotice): void {
      if (notice.kind === 'log') out(`       ${notice.level}: ${displayText(notice.message, 500)}`);
      if (notice.kind === 'faulted') {
        faulted++;
        out(`FAILED ${displayText(notice.message, 500)}`);
      }
    },
  };
}

async function runCase(
  test: PluginTestCase,
  host: ExtensionHost,
  registered: ReadonlyMap<string, Registration>,
  { out, signal, cwd }: TestRunOptions,
): Promise<boolean> {
  const what = `${test.kind} ${test.name} ${shown(test.kind === 'command' ? test.args : test.input)}`;
  const wanted = test.kind === 'hook' ? test.verdict : { text: test.output, fails: test.fails };
  const got = await outcomeOf(test, host, registered, { signal, cwd }).catch((error: Error) => ({ text: error.message, fails: true }));
  const isFine = isDeepStrictEqual(got, wanted);
  out(`${isFine ? 'ok    ' : 'FAILED'} ${what}${isFine ? '' : `\n       wanted ${shown(wanted)}\n       got    ${shown(got)}`}`);
  return isFine;
}

async function outcomeOf(
  test: PluginTestCase,
  host: ExtensionHost,
  registered: ReadonlyMap<string, Registration>,
  { signal, cwd }: { readonly signal: AbortSignal; readonly cwd: string },
): Promise<object> {
  const found = [...registered].find(([, { kind, name }]) => kind === test.kind && (kind === 'hook' || name === test.name));
  if (found === undefined) throw new Error(`there is no ${test.kind} ${test.kind === 'hook' ? '' : test.name}`.trim());
  const [handle, spec] = found;
  if (test.kind === 'tool') {
    const issues = spec.kind === 'tool' ? (await createSchemaValidator().compile(spec.input_schema))(test.input) : [];
    if (issues[0] !== undefined)
      throw new Error(`the input does not fit the schema: ${issues[0].path} ${issues[0].message}`.replace('  ', ' '));
    const params = { handle, call_id: 'test', input: test.input, workspace: cwd };
    const { content, failed } = await host.call({ method: 'tool/call', params, deadlineMs: DEADLINE_MS }, signal).result;
    return { text: content, fails: failed };
  }
  if (test.kind === 'command') {
    const params = { handle, command_id: 'test', raw_input: test.args === '' ? '' : ` ${test.args}`, workspace: cwd };
    const { kind, text, prompt } = await host.call({ method: 'command/run', params, deadlineMs: DEADLINE_MS }, signal).result;
    return { text: prompt ?? text, fails: kind === 'error' };
  }
  const payload = { name: test.name, call_id: 'test', input: test.input, mode: 'interactive', workspace: cwd, model: 'test' };
  return host.call({ method: 'hook/evaluate', params: { handle, event: 'tools/pre-execute', payload }, deadlineMs: DEADLINE_MS }, signal)
    .result;
}
