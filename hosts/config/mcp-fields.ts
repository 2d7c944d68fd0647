import type { KeySpec } from './key-spec.ts';

const NO_NUL = { test: /^[^\0]*$/, says: 'a text without NUL' } as const;

/**
 * The fields of one entry of `mcp_servers`. An entry is taken whole from one file and never mixed from two, so
 * that these are no keys of their own. The docs table is made from them.
 */
export const MCP_SERVER_FIELDS: readonly KeySpec[] = [
  {
    key: 'command',
    type: 'string',
    pattern: { test: /^[^\0]*[^\0\s][^\0]*$/, says: 'text that is not empty, without NUL' },
    project: 'set',
    summary: 'Program to start. Needed where there is no `url`.',
  },
  { key: 'args', type: 'list', pattern: NO_NUL, project: 'set', summary: 'Its arguments.' },
  {
    key: 'env',
    type: 'object',
    project: 'set',
    summary: 'Variables beside the small set that every server gets; an empty text takes one away. `$` is not expanded here.',
  },
  {
    key: 'url',
    type: 'url',
    project: 'set',
    summary: 'Address of a server that is reached over Streamable HTTP. `command`, `args` and `env` then mean nothing.',
  },
  {
    key: 'token_env',
    type: 'string',
    pattern: { test: /^MCP_[A-Z0-9_]{1,124}$/, says: 'the name of a variable that begins with MCP_, in upper case' },
    project: 'set',
    summary: 'Variable of the environment or of `secrets.env` that holds the bearer token.',
  },
  {
    key: 'oauth_client_id',
    type: 'string',
    pattern: { test: /^[\x21-\x7e]{1,2048}$/, says: 'printable characters without blanks, at most 2048' },
    project: 'ignored',
    summary: 'Client id that was registered with the authorization server, or the https address of a client metadata document.',
  },
  {
    key: 'oauth_secret_env',
    type: 'string',
    pattern: { test: /^MCP_[A-Z0-9_]{1,124}$/, says: 'the name of a variable that begins with MCP_, in upper case' },
    project: 'ignored',
    summary: 'Variable that holds the secret of that client, where it has one.',
  },
  {
    key: 'oauth_scopes',
    type: 'list',
    pattern: { test: /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/, says: 'a scope' },
    project: 'ignored',
    summary: 'Scopes that a login asks for in place of those that the server names.',
  },
  {
    key: 'oauth_port',
    type: 'integer',
    min: 1024,
    max: 65_535,
    project: 'ignored',
    summary: 'Port of the redirect to this machine, where the registered client names one. Default: any that is free.',
  },
  { key: 'enabled', type: 'boolean', default: true, project: 'set', summary: '`false`: the entry counts for nothing.' },
  {
    key: 'protocol',
    type: 'choice',
    choices: ['auto', '2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'],
    project: 'set',
    summary: 'Version that is offered. `auto` asks the server first. Default: `auto` with `url`, else `2025-03-26`.',
  },
  {
    key: 'timeout_seconds',
    type: 'integer',
    default: 30,
    min: 1,
    max: 3600,
    clamps: 'range',
    unit: 's',
    project: 'set',
    summary: 'Longest request.',
  },
  {
    key: 'max_response_bytes',
    type: 'integer',
    default: 10_485_760,
    min: 1024,
    max: 67_108_864,
    unit: 'bytes',
    project: 'set',
    summary: 'Largest message from the server.',
  },
  {
    key: 'max_result_chars',
    type: 'integer',
    default: 200_000,
    min: 0,
    max: 1_000_000,
    clamps: 'range',
    unit: 'characters',
    project: 'set',
    summary: 'Text of a result that reaches the model. Too small a value is raised to what the notice of a cut needs.',
  },
  {
    key: 'artifact_roots',
    type: 'list',
    pattern: NO_NUL,
    project: 'set',
    summary: 'Absolute folders that may hold artifacts. None: every artifact is refused.',
  },
  {
    key: 'auto_approve',
    type: 'boolean',
    default: false,
    project: 'ignored',
    summary: 'No questions about the server and its tools. Every other check stays.',
  },
  {
    key: 'approve',
    type: 'choice',
    default: 'register',
    choices: ['register', 'call'],
    project: 'ignored',
    summary: '`call`: each call asks, beside the question about the tool.',
  },
];
