import { isSecretName } from '../../adapters/process/environment.ts';
import { resultLimit } from '../../core/mcp/result-limit.ts';
import { ConfigError } from '../../ports/errors.ts';
import type { McpProtocolChoice } from '../../ports/mcp.ts';
import { checkValue, isObject, short } from './check-value.ts';
import { MCP_SERVER_FIELDS } from './mcp-fields.ts';
import type { ConfigValue, McpServerConfig } from './types.ts';

/** One entry of `mcp_servers` as a file has it, `${NAME}` already replaced but in `env`. */
export interface McpServerEntry {
  readonly name: string;
  readonly value: Readonly<Record<string, unknown>>;
}

export interface McpServersInput {
  readonly operator: readonly McpServerEntry[];
  readonly project: readonly McpServerEntry[];
  /** The files, for messages. */
  readonly operatorFile: string;
  readonly projectFile: string;
  /** A variable of the environment or of `secrets.env`. */
  readonly lookup: (name: string) => string | undefined;
  /** Is told every secret that an entry holds or names. */
  readonly secret: (value: string) => void;
  readonly warn: (text: string) => void;
}

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const VARIABLE = /^[^=\0]{1,256}$/;
const MAX_ENV = 1000;
const DEFAULT_RESULT_CHARS = 200_000;
/** A shorter text would be masked in half of what is shown. */
const SHORTEST_SECRET = 4;
/** Decided by the operator alone. */
const OPERATOR_FIELDS = ['auto_approve', 'approve', 'oauth_client_id', 'oauth_secret_env', 'oauth_scopes', 'oauth_port'] as const;
/** What other programs write into such a block and odek does not act on, with what to do instead. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  headers: 'a bearer token goes into token_env; nothing else is sent',
  envFile: 'name the variables in env',
  cwd: 'a server runs in the folder that odek is started in; say whole paths in args',
  timeout: 'the limit of a request is timeout_seconds',
  includeTools: 'name the tools in tools.enabled or tools.disabled',
  excludeTools: 'name the tools in tools.disabled',
  disabledTools: 'name the tools in tools.disabled',
};
/** Other names of `url` in blocks of other programs. */
const URL_NAMES = ['url', 'httpUrl', 'serverUrl'] as const;

interface Place extends Pick<McpServersInput, 'lookup' | 'secret' | 'warn'> {
  readonly name: string;
  readonly file: string;
  readonly origin: McpServerConfig['origin'];
}

type Parsed = { readonly kind: 'server'; readonly server: McpServerConfig } | { readonly kind: 'off' } | { readonly kind: 'nothing' };

/**
 * The servers that count, by name. A project's entry takes the place of the operator's of the same name and is
 * then the project's, with nothing of the operator's trust, unless it would start exactly the same. Throws
 * `ConfigError` `invalid_value` for a value that is wrong; what a project may not say is dropped with a warning.
 */
export function resolveMcpServers(input: McpServersInput): Readonly<Record<string, McpServerConfig>> {
  const { lookup, secret, warn } = input;
  const servers = new Map<string, McpServerConfig>();
  const off = new Set<string>();
  for (const { name, value } of input.operator) {
    const parsed = parseEntry(value, { name, file: input.operatorFile, origin: 'operator', lookup, secret, warn });
    if (parsed.kind === 'server') servers.set(name, parsed.server);
    if (parsed.kind === 'off') off.add(name);
  }
  for (const { name, value } of input.project) {
    const parsed = parseEntry(value, { name, file: input.projectFile, origin: 'project', lookup, secret, warn });
    if (parsed.kind === 'off') servers.delete(name);
    if (parsed.kind !== 'server') continue;
    if (off.has(name)) warn(`${input.projectFile}: mcp_servers.${name} stays off: the operator turned it off`);
    else servers.set(name, replaced(name, servers.get(name), parsed.server, input));
  }
  return Object.fromEntries(servers);
}

/** A project's entry beside the operator's of the same name. */
function replaced(
  name: string,
  operator: McpServerConfig | undefined,
  project: McpServerConfig,
  { projectFile, warn }: McpServersInput,
): McpServerConfig {
  if (operator === undefined) return project;
  if (launchOf(operator) === launchOf(project)) return operator;
  warn(`${projectFile}: mcp_servers.${name} replaces the operator's server of that name and needs an approval of its own`);
  // A question that the operator wants at each call is not a project's to take away.
  return { ...project, approve: operator.approve };
}

/** Everything that decides what is started and within which bounds, as one text. */
function launchOf(server: McpServerConfig): string {
  const { command, args, env, url, token_env, timeout_seconds, max_response_bytes, max_result_chars, artifact_roots } = server;
  const start = url === undefined ? [command, args, Object.entries(env).sort()] : [url, token_env ?? null];
  return JSON.stringify([...start, timeout_seconds, max_response_bytes, max_result_chars, artifact_roots]);
}

function parseEntry(raw: Readonly<Record<string, unknown>>, place: Place): Parsed {
  const { name, file, origin, warn } = place;
  if (!NAME.test(name) || name.includes('__')) {
    const limit = '1 to 64 of letters, digits, - and _, without "__"';
    throw new ConfigError('invalid_value', `mcp_servers has the entry ${short(name)}, which must be ${limit} (${file})`, {
      value: name,
      limit,
    });
  }
  const given = allowed(raw, place);
  const field = <T extends ConfigValue>(key: string): T | undefined => checkedField(key, given[key], place) as T | undefined;
  if (field<boolean>('enabled') === false || given.disabled === true) return { kind: 'off' };
  for (const [key, way] of Object.entries(ELSEWHERE))
    if (given[key] !== undefined) warn(`${file}: mcp_servers.${name}.${key} is ignored: ${way}`);

  const address = URL_NAMES.map((key) => given[key]).find((value) => value !== undefined && value !== '');
  const url = address === undefined ? undefined : checkedUrl(address, place);
  const command = url === undefined ? field<string>('command') : undefined;
  if (url === undefined && command === undefined) {
    warn(`${file}: mcp_servers.${name} is dropped: it has neither a command nor a url`);
    return { kind: 'nothing' };
  }
  const { env, stripped } = url === undefined ? checkedEnv(given.env, place) : { env: {}, stripped: [] };
  const tokenEnv = url === undefined ? undefined : field<string>('token_env');
  const token = tokenEnv === undefined ? undefined : tokenOf('token_env', tokenEnv, place);
  const oauth = url === undefined ? undefined : oauthOf(field, place);
  return {
    kind: 'server',
    server: {
      origin,
      ...(command !== undefined && { command }),
      args: url === undefined ? (field<readonly string[]>('args') ?? []) : [],
      env,
      stripped_env: stripped,
      ...(url !== undefined && { url }),
      ...(tokenEnv !== undefined && { token_env: tokenEnv }),
      ...(token !== undefined && { token }),
      ...(oauth !== undefined && { oauth }),
      protocol: field<McpProtocolChoice>('protocol') ?? (url === undefined ? '2025-03-26' : 'auto'),
      timeout_seconds: field<number>('timeout_seconds') ?? 30,
      max_response_bytes: field<number>('max_response_bytes') ?? 10_485_760,
      max_result_chars: resultChars(field<number>('max_result_chars'), place),
      artifact_roots: checkedRoots(given.artifact_roots, place),
      auto_approve: field<boolean>('auto_approve') ?? false,
      approve: field<'register' | 'call'>('approve') ?? 'register',
    },
  };
}

/** The entry without what only the operator may say. `null` counts as absent. */
function allowed(raw: Readonly<Record<string, unknown>>, { name, file, origin, warn }: Place): Readonly<Record<string, unknown>> {
  const given = Object.fromEntries(Object.entries(raw).filter(([, value]) => value !== null));
  if (origin === 'operator') return given;
  for (const key of OPERATOR_FIELDS) {
    if (given[key] === undefined) continue;
    warn(`${file}: mcp_servers.${name}.${key} is ignored: a project cannot set it`);
    delete given[key];
  }
  return given;
}

function checkedField(key: string, value: unknown, { name, file, warn }: Place): ConfigValue | undefined {
  if (value === undefined) return undefined;
  const spec = MCP_SERVER_FIELDS.find((candidate) => candidate.key === key);
  if (spec === undefined) throw new Error(`no such field of mcp_servers: ${key}`);
  return checkValue(spec, value, { key: `mcp_servers.${name}.${key}`, where: file, fromText: false }, warn);
}

function invalidField(key: string, value: unknown, limit: string, { name, file }: Place): ConfigError {
  return new ConfigError('invalid_value', `mcp_servers.${name}.${key} must be ${limit}, not ${short(value)} (${file})`, { value, limit });
}

function checkedUrl(value: unknown, place: Place): string {
  const refuse = (shown: unknown = value): ConfigError =>
    invalidField('url', shown, 'an absolute http or https address without a user, a password or a fragment', place);
  if (typeof value !== 'string' || !URL.canParse(value)) throw refuse();
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') throw refuse(`${url.protocol}//…@${url.host}`);
  if ((url.protocol !== 'http:' && url.protocol !== 'https:') || url.hash !== '') throw refuse();
  return url.href;
}

/** A value that leaves no room beside the notice of a cut is raised. */
function resultChars(configured: number | undefined, { name, file, warn }: Place): number {
  const { chars, warning } = resultLimit(name, configured ?? DEFAULT_RESULT_CHARS);
  if (warning !== undefined) warn(`${file}: mcp_servers.${name}.${warning}`);
  return chars;
}

function tokenOf(key: string, variable: string, { name, file, lookup, secret, warn }: Place): string | undefined {
  const token = lookup(variable)?.trim();
  if (token === undefined || token === '') {
    warn(`${file}: mcp_servers.${name}.${key} names ${variable}, which is not set; the server gets no token`);
    return undefined;
  }
  secret(token);
  return token;
}

/** What a login at this server has to know beforehand; undefined for nothing. */
function oauthOf(field: <T extends ConfigValue>(key: string) => T | undefined, place: Place): McpServerConfig['oauth'] {
  const clientId = field<string>('oauth_client_id');
  const variable = field<string>('oauth_secret_env');
  const secret = variable === undefined ? undefined : tokenOf('oauth_secret_env', variable, place);
  const scopes = field<readonly string[]>('oauth_scopes');
  const port = field<number>('oauth_port');
  if (clientId === undefined && secret === undefined && scopes === undefined && port === undefined) return undefined;
  return {
    ...(clientId !== undefined && { client_id: clientId }),
    ...(secret !== undefined && { client_secret: secret }),
    ...(scopes !== undefined && { scopes }),
    ...(port !== undefined && { port }),
  };
}

function checkedEnv(
  value: unknown,
  place: Place,
): { readonly env: Readonly<Record<string, string>>; readonly stripped: readonly string[] } {
  if (value === undefined) return { env: {}, stripped: [] };
  const limit = `an object of at most ${MAX_ENV} texts by variable name`;
  if (!isObject(value) || Object.keys(value).length > MAX_ENV) throw invalidField('env', value, limit, place);
  const stripped: string[] = [];
  const env = new Map<string, string>();
  for (const [name, text] of Object.entries(value)) {
    // The value may be a secret, so that only the name is told.
    if (typeof text !== 'string' || text.includes('\0') || !VARIABLE.test(name)) throw invalidField('env', name, limit, place);
    if (!isSecretName(name)) env.set(name, text);
    else {
      stripped.push(name);
      if (text.length >= SHORTEST_SECRET) place.secret(text);
    }
  }
  return { env: Object.fromEntries(env), stripped };
}

function checkedRoots(value: unknown, place: Place): readonly string[] {
  const roots = checkedField('artifact_roots', value, place) as readonly string[] | undefined;
  const given = (roots ?? []).filter((root) => root.trim() !== '');
  const relative = given.find((root) => !/^(\/|[A-Za-z]:[\\/])/.test(root));
  if (relative !== undefined) throw invalidField('artifact_roots', relative, 'a list of absolute paths', place);
  return given;
}
