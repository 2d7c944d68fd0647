import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { displayText } from '../../core/approvals/display.ts';
import { PLUGIN_NAMES } from '../../plugins/index.ts';
import { ConfigError } from '../../ports/errors.ts';
import type { CommandContext } from '../cli/command.ts';
import { EXIT } from '../cli/exit-codes.ts';
import { loadToldWithoutModel, warner } from '../cli/host.ts';
import { onInterrupt } from '../cli/interrupt.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { Edges, HostEnvironment } from '../environment.ts';
import { serverFactory } from './server.ts';
import { openToolHost, type ToolHost } from './tool-host.ts';

const TOKEN_VARIABLE = 'ODEK_MCP_TOKEN';
const TOKEN_BYTES = 24;
const MIN_TOKEN = 16;
const DEFAULT_HOST = '127.0.0.1';
const LOOPBACK = /^(127(\.\d{1,3}){3}|::1|localhost)$/;
/** Plugins whose tools are for odek's own runs. */
const NOT_OFFERED: readonly string[] = ['background', 'clarify'];

/** `odek mcp`: the tools of odek for another agent, over standard input and output or over HTTP, until it goes. */
export async function serveMcp(context: CommandContext): Promise<number> {
  const config = await loadToldWithoutModel(context);
  const http = context.args.flags.http === true ? httpPlace(context) : undefined;
  if (http === undefined) refuseHttpFlags(context);
  const warn = warner(context);
  const interrupt = onInterrupt();
  const edges: Edges = {
    signal: interrupt.signal,
    onEvent: () => {},
    log: (level, message) => {
      if (level !== 'debug') warn(message);
    },
  };
  try {
    const host = await openToolHost({
      environment: toolEnvironment(context, config, http?.token),
      edges,
      onCall: (name, { outcome, durationMs, visible }) => {
        const told = outcome === 'denied' ? `: ${displayText(visible)}` : '';
        warn(`mcp: ${displayText(name)} ${outcome} in ${Math.round(durationMs)} ms${told}`);
      },
    });
    try {
      await (http === undefined ? serveOverStreams(context, host, interrupt.signal) : serveOverHttp(context, host, http, interrupt.signal));
    } finally {
      await host.close();
    }
    return EXIT.ok;
  } finally {
    interrupt.stop();
  }
}

/** A place to work in, without a model. */
function toolEnvironment(context: CommandContext, config: ResolvedConfig, token: string | undefined): HostEnvironment {
  return {
    // What opens this server must not come out of a tool.
    config: token === undefined ? config : { ...config, secrets: [...config.secrets, token] },
    selection: { id: 'none', include_reasoning: false, model: 'none' },
    env: context.env,
    workspace: context.cwd,
    systemPrompt: '',
    dataDirOf: (plugin) => resolve(config.state.home, 'plugins', plugin, 'data'),
    builtIns: PLUGIN_NAMES.filter((name) => !NOT_OFFERED.includes(name)),
    eventsIncludeArgs: false,
  };
}

async function serveOverStreams(context: CommandContext, host: ToolHost, signal: AbortSignal): Promise<void> {
  const { serveStreams } = await import('./stdio.ts');
  const { io } = context;
  await serveStreams(serverFactory(host), {
    input: io.stdin as NodeJS.ReadStream,
    output: io.stdout as NodeJS.WriteStream,
    signal,
    onFault: (text) => warner(context)(`mcp: ${displayText(text)}`),
  });
}

interface HttpPlace {
  readonly host: string;
  readonly port: number;
  readonly token: string;
  /** The token was made for this start, so that it has to be told. */
  readonly isNew: boolean;
}

function httpPlace({ args, env }: CommandContext): HttpPlace {
  const { flags } = args;
  const host = typeof flags.host === 'string' ? flags.host : DEFAULT_HOST;
  const variable = typeof flags['token-env'] === 'string' ? flags['token-env'] : TOKEN_VARIABLE;
  const given = env[variable] || undefined;
  if (given === undefined && flags['token-env'] !== undefined) {
    throw new ConfigError('mcp_token_missing', `--token-env ${variable}: the variable is not set`, { value: variable });
  }
  if (given !== undefined && given.length < MIN_TOKEN) {
    throw new ConfigError('mcp_token_short', `${variable}: the token has ${given.length} characters, it needs ${MIN_TOKEN} or more`, {
      value: given.length,
      limit: MIN_TOKEN,
    });
  }
  if (given === undefined && !LOOPBACK.test(host)) {
    throw new ConfigError('mcp_token_missing', `--host ${host} is not this machine alone: set ${variable} to a token of your choice`, {
      value: host,
    });
  }
  const port = typeof flags.port === 'number' ? flags.port : 0;
  return { host, port, token: given ?? randomBytes(TOKEN_BYTES).toString('hex'), isNew: given === undefined };
}

function refuseHttpFlags({ args }: CommandContext): void {
  const without = ['port', 'host', 'token-env'].find((name) => args.flags[name] !== undefined);
  if (without === undefined) return;
  throw new ConfigError('flag_needs_http', `--${without} is for odek mcp --http`, { value: without });
}

async function serveOverHttp(context: CommandContext, host: ToolHost, place: HttpPlace, signal: AbortSignal): Promise<void> {
  const { serveHttp } = await import('./http.ts');
  const warn = warner(context);
  const front = await serveHttp(serverFactory(host), {
    host: place.host,
    port: place.port,
    token: place.token,
    newId: () => host.hex(TOKEN_BYTES),
    announce: (notify) => host.onChange(() => notify.toolsChanged()),
    onError: (error) => warn(`mcp: ${displayText(error.message)}`),
  });
  if (place.isNew) warn(`mcp: the token of this start is ${place.token}; set ${TOKEN_VARIABLE} to choose one`);
  warn(`mcp: serving at ${front.url}`);
  const told = Promise.withResolvers<void>();
  signal.addEventListener('abort', () => told.resolve(), { once: true });
  if (!signal.aborted) await told.promise;
  await front.close();
}
