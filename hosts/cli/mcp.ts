import { ConfigError } from '../../ports/errors.ts';
import type { CommandContext } from './command.ts';
import { loadToldWithoutModel } from './host.ts';
import { onInterrupt } from './interrupt.ts';

const ACTIONS = ['list', 'approve', 'revoke', 'probe', 'login', 'logout'] as const;
/** Flags of odek as a server. */
const SERVER_FLAGS = ['http', 'port', 'host', 'token-env', 'sandbox'];

/** `odek mcp` is odek as a server; `odek mcp list|approve|revoke|probe|login|logout` is about the servers that it is a client of. */
export async function run(context: CommandContext): Promise<number> {
  const { positionals, flags } = context.args;
  const [action, server, tool, ...rest] = positionals;
  if (action === undefined) {
    if (flags.json === true) throw new ConfigError('unknown_flag', '--json goes with an action: odek mcp list --json');
    const { serveMcp } = await import('../mcp/main.ts');
    return serveMcp(context);
  }
  const known = ACTIONS.find((each) => each === action);
  const misplaced = SERVER_FLAGS.find((name) => flags[name] !== undefined);
  if (known === undefined) throw usage(action);
  if (misplaced !== undefined) throw new ConfigError('unknown_flag', `--${misplaced} goes with odek mcp alone`, { value: misplaced });
  const most = { list: 0, approve: 1, revoke: 2, probe: 1, login: 1, logout: 1 }[known];
  if (rest.length > 0 || positionals.length - 1 > most) throw usage(positionals.join(' '));
  if (server === undefined && known !== 'list' && known !== 'approve') {
    throw new ConfigError('missing_argument', `odek mcp ${known} needs the name of a server; "odek mcp list" shows them`);
  }
  const config = await loadToldWithoutModel(context);
  const interrupt = onInterrupt();
  const { openMcpWork } = await import('./mcp/work.ts');
  const work = await openMcpWork(context, config, interrupt.signal);
  try {
    if (known === 'list') return await (await import('./mcp/list.ts')).listServers(work);
    if (known === 'approve') return await (await import('./mcp/approve.ts')).approveServers(work, server);
    if (known === 'revoke') return await (await import('./mcp/revoke.ts')).revokeServer(work, server ?? '', tool);
    if (known === 'login') return await (await import('./mcp/login.ts')).logInAt(work, server ?? '');
    if (known === 'logout') return await (await import('./mcp/logout.ts')).logOutOf(work, server ?? '');
    return await (await import('./mcp/probe.ts')).probeServer(work, server ?? '');
  } finally {
    await work.close();
    interrupt.stop();
  }
}

function usage(given: string): ConfigError {
  return new ConfigError(
    'unexpected_argument',
    'usage: odek mcp, or odek mcp list, odek mcp approve [server], odek mcp revoke <server> [tool], odek mcp probe <server>, odek mcp login <server>, odek mcp logout <server>',
    { value: given },
  );
}
