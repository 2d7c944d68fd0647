import { CONFIG_KEYS } from '../config/keys.ts';
import type { CommandModule, CommandSpec, FlagSpec } from './command.ts';
import { flagOf } from './flags.ts';
import { SCHEDULE_ACTIONS, SCHEDULE_FLAGS } from './schedule-flags.ts';

const MODEL_FLAGS: readonly FlagSpec[] = [
  'provider',
  'model',
  'base_url',
  'thinking',
  'thinking_budget',
  'temperature',
  'max_tokens',
  'compaction',
  'prompt_caching',
  'system',
].map(flagOf);

const LIMIT_FLAGS: readonly FlagSpec[] = [
  'max_iterations',
  'announce_budget',
  'limits.max_runtime_seconds',
  'limits.max_tool_calls',
  'limits.max_input_tokens',
  'limits.max_output_tokens',
  'limits.max_cost_usd',
].map(flagOf);

const VIEW_FLAGS: readonly FlagSpec[] = ['stream', 'interaction_mode', 'no_color', 'no_agents'].map(flagOf);

const TOOL_FLAGS: readonly FlagSpec[] = ['tools.enabled', 'tools.disabled'].map(flagOf);

const SANDBOX_FLAGS: readonly FlagSpec[] = [
  'sandbox',
  'sandbox_image',
  'sandbox_network',
  'sandbox_readonly',
  'sandbox_memory',
  'sandbox_cpus',
  'sandbox_user',
].map(flagOf);

const APPROVER_FLAG: FlagSpec = flagOf('dangerous.approver');

const PLANNING_FLAG: FlagSpec = flagOf('planning.enabled');

const EVENT_FLAGS: readonly FlagSpec[] = [
  {
    name: 'events-jsonl',
    kind: 'string',
    placeholder: 'file',
    completes: 'file',
    summary: 'Append every event to this file, one JSON object a line. Its folder must exist.',
  },
  { name: 'events-include-args', kind: 'boolean', summary: 'Put the raw, redacted arguments of tool calls into the events.' },
];

const TAPE_FLAGS: readonly FlagSpec[] = [
  {
    name: 'record',
    kind: 'string',
    placeholder: 'file',
    completes: 'file',
    summary: 'Record the conversation with the model into this file.',
  },
  {
    name: 'replay',
    kind: 'string',
    placeholder: 'file',
    completes: 'file',
    summary: 'Play a recorded conversation instead of calling a model.',
  },
];

const JSON_FLAG: FlagSpec = { name: 'json', kind: 'boolean', summary: 'Print one JSON object instead of text.' };

const REF_FLAG: FlagSpec = {
  name: 'external-ref',
  kind: 'list',
  placeholder: 'kind=uri',
  summary: 'Note a reference to something outside with the session. May be repeated.',
};

const CONTEXT_FLAG: FlagSpec = {
  name: 'ctx',
  kind: 'list',
  placeholder: 'files',
  completes: 'file',
  summary: 'Files whose content goes before the task, with commas between them. May be repeated.',
};

const ID_FLAG: FlagSpec = {
  name: 'id',
  kind: 'string',
  placeholder: 'session',
  summary: 'The session to go on with. Default: the latest.',
};

const RUN_FLAGS: readonly FlagSpec[] = [
  ...MODEL_FLAGS,
  ...LIMIT_FLAGS,
  ...TOOL_FLAGS,
  APPROVER_FLAG,
  ...SANDBOX_FLAGS,
  PLANNING_FLAG,
  ...VIEW_FLAGS,
  JSON_FLAG,
  ...EVENT_FLAGS,
  ...TAPE_FLAGS,
];

const MCP_FLAGS: readonly FlagSpec[] = [
  { name: 'http', kind: 'boolean', summary: 'Serve over Streamable HTTP instead of standard input and output.' },
  {
    name: 'port',
    kind: 'number',
    placeholder: 'n',
    integer: true,
    min: 0,
    max: 65_535,
    summary: 'Port for --http. Default: one that is free.',
  },
  { name: 'host', kind: 'string', placeholder: 'address', summary: 'Address to listen at with --http. Default: 127.0.0.1.' },
  {
    name: 'token-env',
    kind: 'string',
    placeholder: 'variable',
    summary: 'Variable that holds the token for --http. Default: ODEK_MCP_TOKEN.',
  },
  ...TOOL_FLAGS,
  ...SANDBOX_FLAGS,
];

const PLAIN_KEYS = CONFIG_KEYS.map((spec) => spec.key.replace(/\.<.*$/, ''));

/** What `odek config` can be asked for: keys and what they stand under. */
const SECTIONS: readonly string[] = [...new Set(PLAIN_KEYS.flatMap((key) => [key.split('.')[0] ?? key, key]))];

/** Every command. Nothing of a command is loaded before it is asked for. */
export const COMMANDS = {
  run: {
    summary: 'Do one task and print the answer.',
    usage: 'run [flags] <task…>',
    positionals: [{ name: 'task', summary: 'What to do, in words. Read from standard input where there is none.', many: true }],
    flags: [
      { name: 'session', kind: 'boolean', summary: 'Keep the session, so that it is listed and can be continued.' },
      { name: 'deliver', kind: 'boolean', summary: 'Send the answer to `telegram.default_chat_id` as well.' },
      CONTEXT_FLAG,
      REF_FLAG,
      ...RUN_FLAGS,
    ],
    load: () => import('./run.ts'),
  },
  continue: {
    summary: 'Go on with a session.',
    usage: 'continue [--id <session>] [flags] <task…>',
    positionals: [{ name: 'task', summary: 'What to do next, in words.', many: true }],
    flags: [ID_FLAG, CONTEXT_FLAG, REF_FLAG, ...RUN_FLAGS],
    load: () => import('./continue.ts'),
  },
  repl: {
    summary: 'Talk with the agent, turn by turn.',
    usage: 'repl [flags]',
    positionals: [],
    flags: [
      { ...ID_FLAG, summary: 'Go on with this session. Default: a new one.' },
      ...MODEL_FLAGS,
      ...LIMIT_FLAGS,
      APPROVER_FLAG,
      PLANNING_FLAG,
      ...VIEW_FLAGS,
      ...EVENT_FLAGS,
      ...TAPE_FLAGS,
    ],
    load: () => import('./repl.ts'),
  },
  models: {
    summary: 'List the models of a provider and how much each can read.',
    usage: 'models [--provider <id>] [--base-url <url>] [--json]',
    positionals: [],
    flags: [...['provider', 'base_url'].map(flagOf), JSON_FLAG],
    load: () => import('./models.ts'),
  },
  session: {
    summary: 'List, show, export, trim and delete sessions.',
    usage: 'session list [words…] | show [id] | export <id> | delete <id> | trim <id> <n> | cleanup <days>',
    positionals: [
      {
        name: 'action',
        summary: 'list, show, export, delete, trim or cleanup.',
        required: true,
        choices: ['list', 'show', 'export', 'delete', 'trim', 'cleanup'],
      },
      { name: 'argument', summary: 'Words to look for, a session id, a number of messages to keep, or an age in days.', many: true },
    ],
    flags: [JSON_FLAG],
    load: () => import('./session-command.ts'),
  },
  plan: {
    summary: 'Print the plan of a session, or run its checks again.',
    usage: 'plan [session] | plan verify <session>',
    positionals: [
      { name: 'session', summary: 'A session id; the latest session where there is none. Behind verify, the checks are run.', many: true },
    ],
    flags: [JSON_FLAG, ...['limits.max_runtime_seconds', 'limits.max_tool_calls', 'interaction_mode', 'no_color'].map(flagOf)],
    load: () => import('./plan-command.ts'),
  },
  approvals: {
    summary: 'Answer what a run asks that has no terminal of its own.',
    usage: 'approvals [list] | show <id> | approve <id> | trust <id> | deny <id>',
    positionals: [
      {
        name: 'action',
        summary: 'list, show, approve, trust or deny. Default: list.',
        choices: ['list', 'show', 'approve', 'trust', 'deny'],
      },
      { name: 'id', summary: 'The request, as list names it.' },
    ],
    flags: [JSON_FLAG],
    load: () => import('./approvals-command.ts'),
  },
  schedule: {
    summary: 'Run tasks at their times: jobs, what became of them, and the daemon.',
    usage:
      'schedule add --cron <line> [flags] <task…> | edit <job> [flags] [task…] | list | show|rm|enable|disable|run <job> | next|history [job] | deliveries | status | import [file] | daemon',
    positionals: [
      {
        name: 'action',
        summary: `One of ${Object.keys(SCHEDULE_ACTIONS).join(', ')}.`,
        required: true,
        choices: Object.keys(SCHEDULE_ACTIONS),
      },
      { name: 'argument', summary: 'The task of a new job, the id or name of a job, or a file to import.', many: true },
    ],
    flags: SCHEDULE_FLAGS,
    load: () => import('./schedule.ts'),
  },
  usage: {
    summary: 'Show what all runs used: calls, tokens and cost.',
    usage: 'usage [--since <age or date>] [--json]',
    positionals: [],
    flags: [
      {
        name: 'since',
        kind: 'string',
        placeholder: 'age',
        summary: 'An age such as 7d, 12h or 2w, a date such as 2026-09-30, or all. Default: 30d.',
      },
      JSON_FLAG,
    ],
    load: () => import('./usage.ts'),
  },
  audit: {
    summary: 'Show what untrusted content went into a session, and what came of it.',
    usage: 'audit --list | audit <session>',
    positionals: [{ name: 'session', summary: 'A session id.' }],
    flags: [{ name: 'list', kind: 'boolean', summary: 'List the sessions that have an audit.' }],
    load: () => import('./audit.ts'),
  },
  mcp: {
    summary: 'Serve the tools of odek to another agent as an MCP server, or look after the MCP servers that odek uses.',
    usage:
      'mcp [--http [--port <n>] [--host <address>]] | mcp list | mcp approve [server] | mcp revoke <server> [tool] | mcp probe <server> | mcp login <server> | mcp logout <server>',
    positionals: [
      {
        name: 'action',
        summary: 'list, approve, revoke, probe, login or logout. Without one, odek is the server.',
        choices: ['list', 'approve', 'revoke', 'probe', 'login', 'logout'],
      },
      { name: 'argument', summary: 'A configured server; behind revoke also one of its tools.', many: true },
    ],
    flags: [...MCP_FLAGS, JSON_FLAG],
    load: () => import('./mcp.ts'),
  },
  plugin: {
    summary: 'Look after plugins: install, review, trust, switch on and off. Nothing of them runs here but under test.',
    usage:
      'plugin [list] | install|validate|test <folder> | show|review|enable|disable|revoke|remove|config <name> | trust <token> | reload | new <name>',
    positionals: [
      {
        name: 'action',
        summary: 'What to do. Default: list.',
        choices: [
          'list',
          'install',
          'validate',
          'show',
          'review',
          'trust',
          'enable',
          'disable',
          'revoke',
          'remove',
          'reload',
          'config',
          'test',
          'new',
        ],
      },
      { name: 'argument', summary: 'A folder, the name of a plugin, or the token that a review printed.' },
    ],
    flags: [
      { name: 'replace', kind: 'boolean', summary: 'With install: put the new one in the place of the one that is there.' },
      JSON_FLAG,
    ],
    load: () => import('./plugin.ts'),
  },
  extension: {
    summary: 'Compare an extension server with the contract.',
    usage: 'extension check [flags] -- <command> [args…]',
    positionals: [
      { name: 'action', summary: 'check.', required: true, choices: ['check'] },
      { name: 'command', summary: 'The server and its arguments.', many: true },
    ],
    flags: [
      {
        name: 'artifact-root',
        kind: 'list',
        placeholder: 'folder',
        completes: 'folder',
        summary: 'A folder that may hold artifacts. May be repeated.',
      },
      { name: 'call', kind: 'string', placeholder: 'tool', summary: 'A tool that may be called without harm.' },
      { name: 'arguments', kind: 'string', placeholder: 'json', summary: 'Arguments of that tool, a JSON object. Default: {}.' },
      JSON_FLAG,
    ],
    load: () => import('./extension.ts'),
  },
  telegram: {
    summary: 'Be there for people in Telegram, and run scheduled jobs beside that.',
    usage: 'telegram',
    positionals: [],
    flags: ['provider', 'model', 'base_url'].map(flagOf),
    load: () => import('./telegram.ts'),
  },
  init: {
    summary: 'Write an example configuration.',
    usage: 'init [--global | --local] [--force]',
    positionals: [],
    flags: [
      { name: 'global', short: 'g', kind: 'boolean', summary: 'Write config.json into the state folder. This is the default.' },
      { name: 'local', kind: 'boolean', summary: 'Write odek.json into the working directory.' },
      { name: 'force', short: 'f', kind: 'boolean', summary: 'Replace a file that is there.' },
    ],
    load: () => import('./init.ts'),
  },
  config: {
    summary: 'Show the resolved configuration and where each value came from.',
    usage: 'config [section] [--json]',
    positionals: [{ name: 'section', summary: 'A key or the beginning of one, such as limits or dangerous.action.', suggests: SECTIONS }],
    flags: [JSON_FLAG],
    load: () => import('./config.ts'),
  },
  doctor: {
    summary: 'Check the set-up and say what to do.',
    usage: 'doctor',
    positionals: [],
    flags: [],
    load: () => import('./doctor.ts'),
  },
  completion: {
    summary: 'Print a completion script for a shell.',
    usage: 'completion bash | zsh | fish',
    positionals: [{ name: 'shell', summary: 'bash, zsh or fish.', required: true, choices: ['bash', 'zsh', 'fish'] }],
    flags: [],
    load: async (): Promise<CommandModule> => (await import('./completion.ts')).completionCommand(COMMANDS),
  },
  help: {
    summary: 'Explain odek or one command.',
    usage: 'help [command]',
    positionals: [{ name: 'command', summary: 'The command to explain.' }],
    flags: [],
    load: async (): Promise<CommandModule> => (await import('./help.ts')).helpCommand(COMMANDS),
  },
  version: {
    summary: 'Print the version.',
    usage: 'version',
    positionals: [],
    flags: [],
    load: () => import('./version.ts'),
  },
} as const satisfies Record<string, CommandSpec>;
