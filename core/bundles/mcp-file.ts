import { BUNDLE_LIMITS } from './limits.ts';
import type { BundleManifest } from './manifest.ts';
import { bundlePath } from './paths.ts';
import { type BundleProblem, isObject, problemList, type Report, shown } from './problem.ts';

/** A server of `mcp.json` that passed, with its placeholders still in it. */
export type BundleMcpDefinition =
  | {
      readonly name: string;
      readonly transport: 'stdio';
      /** A bare name, or `./` and a path of the bundle. */
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
      /** As written: `./…`, `${PLUGIN_ROOT}…` or `${PLUGIN_DATA}…`. */
      readonly cwd: string;
    }
  | { readonly name: string; readonly transport: 'http'; readonly url: string };

const WHERE = 'mcp.json';
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const VARIABLE = /^[^=\0]{1,256}$/;
const BARE = /^[^/\\\0\s"'`$|&;<>]{1,256}$/;
const CWD = /^(?:\.\/|\$\{PLUGIN_(?:ROOT|DATA)\}(?:\/|$))/;
const RESERVED = ['PLUGIN_ROOT', 'PLUGIN_DATA'];
const FIELDS = { stdio: ['type', 'command', 'args', 'env', 'cwd'], remote: ['type', 'url', 'headers'] } as const;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/;

/** What the reader needs of the bundle around the file. */
export interface McpFileContext extends Pick<BundleManifest, 'mcpSchemas' | 'lenient'> {
  hasFile(path: string): boolean;
}

/** Reads `mcp.json`. One server that is wrong is left out, a file that is wrong leaves all of them out. */
export function parseMcpFile(
  text: string,
  context: McpFileContext,
): { readonly servers: readonly BundleMcpDefinition[]; readonly problems: readonly BundleProblem[] } {
  const { problems, report } = problemList();
  const entries = serverEntries(text, context, report);
  const servers = entries
    .map(([name, value]) =>
      readServer(name, value, context, (why) => report('disabled', `${WHERE}: ${shown(name)}`, `is left out: ${why}`)),
    )
    .filter((server) => server !== undefined);
  return { servers, problems };
}

function serverEntries(text: string, { mcpSchemas, lenient }: McpFileContext, report: Report): readonly (readonly [string, unknown])[] {
  const refuse = (why: string): readonly [] => {
    report('disabled', WHERE, `is left out: ${why}`);
    return [];
  };
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return refuse('it is not JSON');
  }
  if (!isObject(root)) return refuse(`it must be an object, not ${shown(root)}`);
  const { $schema: schema, mcpServers: servers, ...rest } = root;
  const isLeftOut = schema === undefined && lenient;
  if (!isLeftOut && !mcpSchemas.some((each) => each === schema)) return refuse(`$schema must be "${mcpSchemas[0]}", not ${shown(schema)}`);
  const extra = Object.keys(rest)[0];
  if (extra !== undefined) return refuse(`it has the field ${shown(extra)}; it may have $schema and mcpServers`);
  if (!isObject(servers)) return refuse(`mcpServers must be an object, not ${shown(servers)}`);
  const count = Object.keys(servers).length;
  return count > BUNDLE_LIMITS.mcpServers
    ? refuse(`it has ${count} servers, the limit is ${BUNDLE_LIMITS.mcpServers}`)
    : Object.entries(servers);
}

type Refuse = (why: string) => void;

function readServer(name: string, value: unknown, context: McpFileContext, refuse: Refuse): BundleMcpDefinition | undefined {
  const refused = (why: string): undefined => void refuse(why);
  if (!NAME.test(name) || name.includes('__')) return refused('its name must be 1 to 64 of letters, digits, "-" and "_", without "__"');
  if (!isObject(value)) return refused(`it must be an object, not ${shown(value)}`);
  const type = value.type ?? (context.lenient ? inferredType(value) : undefined);
  if (type !== 'stdio' && type !== 'streamable-http' && type !== 'sse') {
    return refused(`type must be "stdio", "streamable-http" or "sse", not ${shown(type)}`);
  }
  const fields: readonly string[] = [...FIELDS[type === 'stdio' ? 'stdio' : 'remote'], ...(context.lenient ? ['extensions'] : [])];
  const extra = Object.keys(value).find((key) => !fields.includes(key));
  if (extra !== undefined) return refused(`it has the field ${shown(extra)}; a server of type ${type} may have ${fields.join(', ')}`);
  return type === 'stdio' ? readLocal(name, value, context, refused) : readRemote(name, type, value, refused);
}

function inferredType(value: Readonly<Record<string, unknown>>): string | undefined {
  if (value.command !== undefined) return 'stdio';
  return value.url === undefined ? undefined : 'streamable-http';
}

type Refused = (why: string) => undefined;

function readLocal(
  name: string,
  { command, args = [], env = {}, cwd = './' }: Readonly<Record<string, unknown>>,
  { hasFile }: McpFileContext,
  refused: Refused,
): BundleMcpDefinition | undefined {
  const most = BUNDLE_LIMITS.mcpFields;
  const why = commandProblem(command, hasFile);
  if (why !== undefined) return refused(why);
  if (!Array.isArray(args) || args.length > most || !args.every(isPlain))
    return refused(`args must be a list of at most ${most} texts without NUL`);
  const isEnv =
    isObject(env) && Object.keys(env).length <= most && Object.entries(env).every(([key, text]) => VARIABLE.test(key) && isPlain(text));
  if (!isEnv) return refused(`env must be an object of at most ${most} texts by the name of a variable`);
  const reserved = Object.keys(env).find((key) => RESERVED.includes(key.toUpperCase()));
  if (reserved !== undefined) return refused(`env sets ${reserved}, which odek sets`);
  if (typeof cwd !== 'string' || !CWD.test(cwd))
    return refused(`cwd must begin with "./", "\${PLUGIN_ROOT}" or "\${PLUGIN_DATA}", not ${shown(cwd)}`);
  const inner = cwd.replace(CWD, '').replace(/\/$/, '');
  const checked = inner === '' ? { path: '' } : bundlePath(inner);
  if ('refused' in checked) return refused(`cwd ${shown(cwd)} cannot be used: ${checked.refused}`);
  return { name, transport: 'stdio', command: command as string, args, env: env as Readonly<Record<string, string>>, cwd };
}

function isPlain(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0');
}

function commandProblem(command: unknown, hasFile: (path: string) => boolean): string | undefined {
  if (typeof command !== 'string' || command === '') return `command must be a text, not ${shown(command)}`;
  if (!command.startsWith('./')) {
    return BARE.test(command) && command !== '.' && command !== '..'
      ? undefined
      : `command must be the bare name of a program, or a path that begins with "./", not ${shown(command)}`;
  }
  const checked = bundlePath(command);
  if ('refused' in checked) return `command ${shown(command)} cannot be used: ${checked.refused}`;
  return hasFile(checked.path) ? undefined : `the bundle has no file ${shown(command)}`;
}

function readRemote(
  name: string,
  type: 'streamable-http' | 'sse',
  { url, headers }: Readonly<Record<string, unknown>>,
  refused: Refused,
): BundleMcpDefinition | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return refused(`url must be an absolute address, not ${shown(url)}`);
  const { protocol, username, password, hash, hostname, href } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return refused(`url must be http or https, not ${protocol}`);
  if (username !== '' || password !== '' || hash !== '' || url.includes('#')) return refused('url may hold neither a user nor a fragment');
  if (protocol === 'http:' && !LOOPBACK.test(hostname)) return refused(`url must be https, or an address of this machine`);
  if (headers !== undefined && !(isObject(headers) && Object.values(headers).every(isPlain)))
    return refused('headers must be an object of texts');
  if (type === 'sse') return refused('odek does not speak the old HTTP+SSE transport');
  if (headers !== undefined && Object.keys(headers).length > 0) return refused('it sets headers, and odek sends none of its configuration');
  return { name, transport: 'http', url: href };
}

/** The text with both placeholders replaced, once; what was put in is not looked at again. */
export function withPlaces(text: string, { root, data }: { readonly root: string; readonly data: string }): string {
  return text.replaceAll(/\$\{PLUGIN_(ROOT|DATA)\}/g, (_, which: string) => (which === 'ROOT' ? root : data));
}
