import { constants } from 'node:fs';
import { access, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { SandboxUnavailable } from '../../adapters/process/sandbox/sandbox.ts';
import { isOdekError } from '../../ports/errors.ts';
import type { SessionErrorCode } from '../../ports/session.ts';
import { environmentSecrets } from '../config/environment-secrets.ts';
import { loadConfig } from '../config/load.ts';
import { isLoose, readJsonFile, readSmallFile } from '../config/read-file.ts';
import { selectProvider } from '../config/select.ts';
import { statePaths } from '../config/state-paths.ts';
import type { LoadedConfig, StatePaths } from '../config/types.ts';
import type { CommandContext, TerminalIo } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { CLI_POLICIES } from './policy.ts';
import { sanitise } from './render/sanitise.ts';

/** One line of the report. `advice` says what to do about a finding that is not well. */
export interface Finding {
  readonly ok: boolean;
  readonly text: string;
  readonly advice?: string;
}

const FLOOR = [22, 19] as const;

/** `odek doctor`: looks at everything a run needs, reaches no network, changes nothing but a database's old format. */
export async function run({ io, env, cwd, args }: CommandContext): Promise<number> {
  const state = statePaths(env, cwd);
  const findings: Finding[] = [
    nodeFinding(process.versions.node),
    await folderFinding(state),
    await globalFinding(state),
    await secretsFinding(state),
    await projectFinding(state),
  ];
  const loaded = await loadConfig({ env, cwd, flags: args.flags, tolerant: true }).catch((error: unknown) => error);
  io.mask?.(isLoaded(loaded) ? loaded.config.secrets : environmentSecrets(env));
  if (isLoaded(loaded)) findings.push(...warningFindings(loaded, findings), ...providerFindings(loaded));
  else findings.push({ ok: false, text: messageOf(loaded), advice: 'correct the value; "odek config" shows the rest' });
  if (isLoaded(loaded)) findings.push(await sandboxFinding(loaded, env, cwd));
  if (isLoaded(loaded)) findings.push(...(await (await import('../plugin-host/doctor.ts')).pluginFindings(loaded.config, env, cwd)));
  if (isLoaded(loaded)) findings.push((await import('../telegram/doctor.ts')).telegramFinding(loaded.config));
  findings.push(await databaseFinding(state, isLoaded(loaded) ? loaded.config.durability : 'process'), terminalFinding(io));
  for (const finding of findings) io.stdout.write(sanitise(lineOf(finding)));
  return findings.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed;
}

/** Exported for its tests. */
export function nodeFinding(version: string): Finding {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const ok = major > FLOOR[0] || (major === FLOOR[0] && minor >= FLOOR[1]);
  return ok ? well(`Node ${version}`) : ill(`Node ${version} is too old`, `install Node ${FLOOR.join('.')} or newer`);
}

async function folderFinding({ home }: StatePaths): Promise<Finding> {
  const found = await stat(home).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown error');
  if (found === 'ENOENT') return freshFolder(home);
  if (typeof found === 'string') return ill(`state folder ${home}: ${found}`, 'make it readable, or set ODEK_HOME to another folder');
  if (!found.isDirectory()) return ill(`state folder ${home} is no folder`, 'move the file away, or set ODEK_HOME to another folder');
  if (!(await may(home, constants.W_OK))) return ill(`state folder ${home} cannot be written`, `make it yours, or set ODEK_HOME`);
  if (isLoose(found.mode)) return ill(`state folder ${home} is open to others`, `run: chmod 700 ${home}`);
  return well(`state folder ${home}`);
}

async function freshFolder(home: string): Promise<Finding> {
  let parent = dirname(home);
  while (!(await may(parent, constants.F_OK)) && dirname(parent) !== parent) parent = dirname(parent);
  return (await may(parent, constants.W_OK))
    ? well(`state folder ${home} does not exist yet; the first run makes it`)
    : ill(`state folder ${home} cannot be made: ${parent} cannot be written`, 'set ODEK_HOME to a folder of your own');
}

async function globalFinding({ configFile }: StatePaths): Promise<Finding> {
  const reading = await readJsonFile(configFile);
  if (reading.state === 'absent') return well(`no ${configFile}; "odek init" writes an example`);
  if (reading.state === 'bad') return ill(reading.problem, 'correct the file; until then every run stops with exit code 3');
  if (isLoose(reading.mode)) return ill(`${configFile} is open to others`, `run: chmod 600 ${configFile}`);
  return well(`configuration ${configFile}`);
}

async function secretsFinding({ secretsFile }: StatePaths): Promise<Finding> {
  const reading = await readSmallFile(secretsFile);
  if (reading.state === 'absent') return well(`no ${secretsFile}; it may hold keys as NAME=value lines`);
  if (reading.state === 'bad') return ill(reading.problem, 'make it a regular file that you can read');
  if (isLoose(reading.mode)) return ill(`${secretsFile} is not used: others may read it`, `run: chmod 600 ${secretsFile}`);
  return well(`secrets ${secretsFile}`);
}

async function projectFinding({ projectFile }: StatePaths): Promise<Finding> {
  const reading = await readJsonFile(projectFile);
  if (reading.state === 'absent') return well('no odek.json in this folder; none is needed');
  if (reading.state === 'bad') return ill(reading.problem, 'correct the file; until then it is ignored');
  return well(`project configuration ${projectFile}`);
}

/** Warnings of the loader that no finding above has told already. */
function warningFindings({ warnings }: LoadedConfig, told: readonly Finding[]): readonly Finding[] {
  const seen = told.filter(({ ok }) => !ok);
  const isTold = (warning: string): boolean => seen.some(({ text }) => warning.startsWith(text) || text.startsWith(warning));
  return warnings.filter((warning) => !isTold(warning)).map((warning) => ({ ok: true, text: `note: ${warning}` }));
}

function providerFindings({ config, sources }: LoadedConfig): readonly Finding[] {
  try {
    const { id, base_url, model, api_key } = selectProvider(config);
    const where = base_url === undefined ? 'an adapter' : withoutSecrets(base_url);
    const key = api_key === undefined ? 'no key, and none is known to be needed' : `key set (${sources.api_key ?? 'default'})`;
    return [well(`provider ${id}, model ${model}, ${where}`), well(key)];
  } catch (error) {
    return [ill(messageOf(error), 'nothing but a --replay run works until then')];
  }
}

function withoutSecrets(address: string): string {
  const url = new URL(address);
  url.username = '';
  url.password = '';
  return url.href;
}

async function databaseFinding({ database }: StatePaths, durability: 'process' | 'power'): Promise<Finding> {
  const found = await stat(database).catch((error: NodeJS.ErrnoException) => error.code ?? 'unknown error');
  if (found === 'ENOENT' || found === 'ENOTDIR') return well('no database yet; the first run makes it');
  const { openStore, storeAdvice } = await import('../../adapters/store/index.ts');
  const [{ createSystemClock }, { createRandomIds }] = await Promise.all([
    import('../../adapters/clock/system.ts'),
    import('../../adapters/ids/random.ts'),
  ]);
  try {
    const store = await openStore({ path: database, durability, surface: 'doctor', clock: createSystemClock(), ids: createRandomIds() });
    try {
      const report = await store.check();
      if (report.problems.length > 0) return ill(`database ${database}: ${report.problems.join('; ')}`, storeAdvice('database_corrupt'));
      return well(`database ${database}: ${report.sessions} sessions, ${Math.ceil(report.bytes / 1024)} KiB`);
    } finally {
      await store.close();
    }
  } catch (error) {
    const code = isOdekError(error) ? (error.code as SessionErrorCode) : 'store_error';
    return ill(`database ${database}: ${messageOf(error)}`, storeAdvice(code) ?? storeAdvice('store_error'));
  }
}

/** What `run` would do; a missing sandbox is a fault only where it is required. */
async function sandboxFinding({ config }: LoadedConfig, env: CommandContext['env'], workspace: string): Promise<Finding> {
  try {
    const { probeSandbox, sandboxDuty } = await import('../sandbox.ts');
    const duty = sandboxDuty(config, CLI_POLICIES.run);
    if (duty === 'off') return well('sandbox turned off: commands can reach all that you can');
    try {
      const network =
        config.sandbox_network === 'none' || config.sandbox_network === 'host' ? 'no network' : `network ${config.sandbox_network}`;
      return well(`sandbox ${await probeSandbox({ config, env, workspace })}, ${network}`);
    } catch (error) {
      const advice = (error as Partial<SandboxUnavailable>).advice ?? 'turn it off with sandbox: false';
      if (duty === 'required') return ill(`no sandbox, and it is required: ${messageOf(error)}`, advice);
      return { ok: true, text: `note: no sandbox: ${messageOf(error)}`, advice };
    }
  } catch (error) {
    return ill(messageOf(error), 'leave one of the two out');
  }
}

function terminalFinding({ stdoutIsTty, stdinIsTty, columns }: TerminalIo): Finding {
  if (stdoutIsTty && stdinIsTty) return well(`terminal, ${columns} columns`);
  return well('no terminal here: answers are plain text, and dangerous.non_interactive decides what would be asked');
}

function lineOf({ ok, text, advice }: Finding): string {
  const [first = '', ...rest] = text.split('\n');
  const lines = [`${ok ? '✓' : '✗'} ${first}`, ...rest.map((line) => `  ${line}`)];
  if (advice !== undefined) lines.push(`  → ${advice}`);
  return `${lines.join('\n')}\n`;
}

async function may(path: string, mode: number): Promise<boolean> {
  return access(path, mode).then(
    () => true,
    () => false,
  );
}

function isLoaded(value: unknown): value is LoadedConfig {
  return typeof value === 'object' && value !== null && 'sources' in value;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function well(text: string): Finding {
  return { ok: true, text };
}

function ill(text: string, advice: string): Finding {
  return { ok: false, text, advice };
}
