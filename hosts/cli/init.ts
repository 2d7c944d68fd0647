import { constants } from 'node:fs';
import { mkdir, open, realpath, rename, rm, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { ConfigError } from '../../ports/errors.ts';
import type { KeySpec } from '../config/key-spec.ts';
import { CONFIG_KEYS } from '../config/keys.ts';
import { statePaths } from '../config/state-paths.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';

/** The operator's file is his own; a project's holds no secret and is shared. */
const MODES = { global: 0o600, local: 0o644 } as const;

/** `odek init [--global | --local] [--force]`: writes an example that changes nothing until it is edited. */
export async function run({ args, io, env, cwd }: CommandContext): Promise<number> {
  if (args.flags.global === true && args.flags.local === true) {
    throw new ConfigError('invalid_value', '--global and --local exclude each other', { value: ['--global', '--local'] });
  }
  const place = args.flags.local === true ? 'local' : 'global';
  const paths = statePaths(env, cwd);
  const path = place === 'local' ? paths.projectFile : paths.configFile;
  try {
    if (place === 'global') await makeFolders(paths.home);
    await write(path, exampleConfig(place), MODES[place], args.flags.force === true);
  } catch (error) {
    throw writeError(error, path);
  }
  io.stdout.write(`${path} is written. Take the "// " from a key to set it; "odek config" shows what counts.\n`);
  return EXIT.ok;
}

/** Step by step: `recursive` never returns below a folder that denies having what was just made, such as `/proc`. */
async function makeFolders(folder: string): Promise<void> {
  if (await isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder) await makeFolders(parent);
  try {
    await mkdir(folder, { mode: 0o700 });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST' || !(await isFolder(folder))) throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

/** Valid JSON in which every key is switched off by a leading `// `. */
export function exampleConfig(place: 'global' | 'local'): string {
  const keys = CONFIG_KEYS.filter((spec) => place === 'global' || (spec.project !== 'ignored' && spec.project !== 'rejected'));
  const root: Record<string, unknown> = {
    '//': 'Take the "// " from a key to set it. docs/configuration.md explains each one.',
  };
  for (const spec of keys) putExample(root, spec, place);
  return `${JSON.stringify(root, null, 2)}\n`;
}

function putExample(root: Record<string, unknown>, spec: KeySpec, place: 'global' | 'local'): void {
  const [top = '', ...rest] = spec.key.replace(/<([^>]*)>/g, (_, name: string) => EXAMPLE_NAMES[name] ?? name).split('.');
  let at = root;
  let name = `// ${top}`;
  for (const next of rest) {
    at[name] ??= {};
    at = at[name] as Record<string, unknown>;
    name = next;
  }
  // A project can turn such a switch on, and nothing else.
  at[name] = place === 'local' && spec.project === 'raise' ? true : exampleValue(spec);
}

const EXAMPLE_NAMES: Readonly<Record<string, string>> = {
  id: 'my-gateway',
  class: 'install',
  model: 'my-model',
  name: 'my-sink',
  server: 'my-server',
  plugin: 'my-plugin',
};

const EXAMPLES: Readonly<Record<string, unknown>> = {
  provider: 'deepseek',
  'providers.<id>.base_url': 'https://llm.example.com/v1',
  'providers.<id>.api_key': `\${MY_GATEWAY_KEY}`,
  model: 'deepseek-v4-flash',
  base_url: 'http://localhost:8080/v1',
  api_key: `\${ODEK_API_KEY}`,
  system: 'You are …',
  max_tokens: 8192,
  'dangerous.classes.<class>': 'deny',
  'dangerous.allowlist': ['npm test'],
  'dangerous.denylist': ['git push'],
  'dangerous.action': 'prompt',
  'limits.max_runtime_seconds': 1800,
  'limits.max_tool_calls': 200,
  'limits.max_input_tokens': 2_000_000,
  'limits.max_output_tokens': 200_000,
  'limits.max_cost_usd': 2,
  'tools.enabled': ['read_file', 'search_files'],
  'tools.disabled': ['shell'],
  adapters: ['./my-sink.mjs'],
  'background.max_timeout_seconds': 3600,
  'mcp_servers.<server>': { command: 'npx', args: ['-y', 'some-mcp-server'] },
  'verify.model': 'my-small-model',
  'verify.max_tokens': 1024,
  sandbox_image: 'alpine:latest',
  sandbox_memory: '512m',
  sandbox_cpus: '1.5',
  sandbox_user: '1000:1000',
  'network.proxy': 'none',
  'schedules.webhook_secret': 'at-least-sixteen-characters',
  'schedules.health_addr': '127.0.0.1:8787',
  'telegram.bot_token': '123456789:as-BotFather-gives-it',
  'telegram.bot_username': 'my_odek_bot',
  'telegram.allowed_users': ['123456789'],
  'telegram.health_addr': '127.0.0.1:8788',
  'telegram.default_chat_id': '123456789',
  'extension_host.node': '/usr/local/bin/node',
  'network.allow_hosts': ['localhost:8080'],
  'web_search.base_url': 'http://localhost:8888',
};

function exampleValue(spec: KeySpec): unknown {
  if (spec.key in EXAMPLES) return EXAMPLES[spec.key];
  if (spec.default !== undefined) return spec.default;
  if (spec.type === 'object') return {};
  return spec.choices?.[0] ?? (spec.type === 'list' ? [] : spec.type === 'boolean' ? false : (spec.min ?? 0));
}

/** Creates the file, or replaces it in one step. A link is followed, so that the file it names is replaced. */
async function write(path: string, text: string, mode: number, force: boolean): Promise<void> {
  const target = force ? await realpath(path).catch(() => path) : path;
  const draft = force ? `${target}.${process.pid}.new` : target;
  const file = await open(draft, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, mode);
  try {
    await file.chmod(mode);
    await file.writeFile(text);
    await file.sync();
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  if (draft !== target) await rename(draft, target);
}

function writeError(error: unknown, path: string): ConfigError {
  const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
  // A file in the place of the state folder gives the same code, from mkdir.
  if (code === 'EEXIST' && (error as NodeJS.ErrnoException).syscall === 'open')
    return new ConfigError('file_exists', `${path} is there already; --force replaces it`, { value: path, cause: error });
  return new ConfigError('cannot_write', `${path} cannot be written: ${code} (${dirname(path)})`, { value: path, cause: error });
}
