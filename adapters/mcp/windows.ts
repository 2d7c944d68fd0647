import { McpError } from '../../ports/mcp.ts';

/** What `spawn` is given. */
export interface SpawnPlan {
  readonly file: string;
  readonly args: readonly string[];
  /** Windows: the arguments are quoted already. */
  readonly verbatim: boolean;
}

export interface SpawnRequest {
  readonly server: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly platform: string;
  /** The child's variables: `PATH` and `PATHEXT` decide what a bare name means, `COMSPEC` runs the shims. */
  readonly environment: Readonly<Record<string, string>>;
  /** Whether a file of this path exists. */
  readonly exists: (path: string) => boolean;
}

const DEFAULT_EXTENSIONS = '.COM;.EXE;.BAT;.CMD';
const SHIM = /\.(?:cmd|bat)$/i;
/** What stays itself outside of quotes. */
const PLAIN = /^[A-Za-z0-9#$*+\-./:?@\\_]+$/;

/**
 * How a server's command is spawned. On Windows a bare name is looked up as the system's own shell does, since
 * `npx` is a `.cmd` there; a shim is run by the command interpreter with each argument quoted so that its
 * characters stay what they are. Throws `McpError` (`mcp_spawn_failed`) for a line break or a NUL.
 */
export function planSpawn({ server, command, args, platform, environment, exists }: SpawnRequest): SpawnPlan {
  for (const text of [command, ...args]) {
    if (text.includes('\0') || (platform === 'win32' && /[\r\n]/.test(text))) {
      throw new McpError('mcp_spawn_failed', `the command or an argument of the MCP server ${server} holds a line break or a NUL`, {
        server,
        value: JSON.stringify(text).slice(0, 200),
      });
    }
  }
  if (platform !== 'win32') return { file: command, args, verbatim: false };
  const file = findOnPath(command, environment, exists);
  if (!SHIM.test(file)) return { file, args, verbatim: false };
  const line = [`"${file}"`, ...args.map(quote)].join(' ');
  return { file: variable(environment, 'COMSPEC') ?? 'cmd.exe', args: ['/e:ON', '/v:OFF', '/d', '/c', `"${line}"`], verbatim: true };
}

function findOnPath(command: string, environment: Readonly<Record<string, string>>, exists: (path: string) => boolean): string {
  const extensions = (variable(environment, 'PATHEXT') || DEFAULT_EXTENSIONS).split(';').filter(Boolean);
  const named = extensions.some((extension) => command.toLowerCase().endsWith(extension.toLowerCase()));
  const names = named ? [command] : extensions.map((extension) => command + extension.toLowerCase());
  const folders = /[\\/]/.test(command) ? [''] : (variable(environment, 'PATH') ?? '').split(';').filter(Boolean);
  for (const folder of folders) {
    for (const name of names) {
      const path = folder === '' ? name : `${folder.replace(/[\\/]+$/, '')}\\${name}`;
      if (exists(path)) return path;
    }
  }
  return command;
}

/** Names of variables have no case there. */
function variable(environment: Readonly<Record<string, string>>, name: string): string | undefined {
  return Object.entries(environment).find(([each]) => each.toUpperCase() === name)?.[1];
}

/**
 * One argument of a batch file. The interpreter reads it twice, so it stays in quotes: a quote in it is doubled,
 * which never leaves them, and a per cent sign gets a harmless expansion before it, so that it begins no variable.
 */
function quote(argument: string): string {
  if (PLAIN.test(argument) && !argument.endsWith('\\')) return argument;
  const inner = argument
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\*)$/, '$1$1')
    .replaceAll('%', '%%cd:~,%');
  return `"${inner}"`;
}
