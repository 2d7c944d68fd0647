/**
 * The whole of what core and a host can say to each other, version 1: one row for each method, with who
 * may send it. Nothing here can express that a call is approved; approvals are never a host's business.
 */
import {
  anyObject,
  anything,
  closed,
  flag,
  integer,
  listOf,
  matching,
  oneOf,
  recordOf,
  type Shape,
  text,
  tolerant,
  variants,
} from './shapes.ts';

export const PROTOCOL = 1;
/** Requests under way in one direction, beside a ping. */
export const MAX_IN_FLIGHT = 256;

export type Side = 'core' | 'host';

export interface Method {
  readonly from: Side;
  readonly params: Shape;
  /** Of the answer; absent: it is a notice and has none. */
  readonly result?: Shape;
}

const MAX_TEXT = 32 * 1024 * 1024;
const SHORT = 256;
const PATH = 4_096;
const MESSAGE = 8_192;

const DIGEST = matching(/^[0-9a-f]{64}$/, 'SHA-256');
const OWNER_FIELDS = { plugin_id: text(128, 1), generation: integer(1, Number.MAX_SAFE_INTEGER), owner_token: text(128, 16) };
/** Core's own words may gain members; a host's may not. */
const OWNER_SENT = tolerant(OWNER_FIELDS);
const OWNER = closed(OWNER_FIELDS);
const HANDLE = text(64, 1);
const EMPTY = closed({});
const CALLER = { workspace: text(PATH), session_id: text(SHORT), agent_id: text(SHORT), origin_turn_id: text(SHORT) };
const DEADLINE = integer(1, 3_600_000);

const REGISTRATION = variants('kind', {
  tool: closed(
    { kind: anything, name: text(SHORT, 1), description: text(MESSAGE), input_schema: anyObject },
    { output_schema: anyObject, max_result_chars: integer(1, Number.MAX_SAFE_INTEGER) },
  ),
  command: closed({ kind: anything, name: text(SHORT, 1), description: text(MESSAGE) }, { argument_hint: text(1_024) }),
  hook: closed({ kind: anything, name: oneOf('tools/pre-execute') }),
  prompt_section: closed({ kind: anything, name: text(SHORT, 1), text: text(MESSAGE) }, { interpolate: oneOf('model-cwd') }),
  skill_root: closed({ kind: anything, name: text(1_024, 1) }),
  mcp_server: closed({ kind: anything, name: text(SHORT, 1), server: anyObject }),
});

const NAMES = listOf(text(SHORT), 1_024);
const ENTRY_OUTCOME = closed({
  entry: text(PATH),
  status: oneOf('ok', 'failed'),
  diagnostic: text(MESSAGE),
  tools: NAMES,
  commands: NAMES,
  effects: listOf(text(1_024), 1_024),
});

const HOOK_ANSWER = variants('kind', {
  abstain: closed({ kind: anything }),
  deny: closed({ kind: anything, reason: text(MAX_TEXT) }),
  ask: closed({ kind: anything }, { reason: text(MAX_TEXT) }),
  revise: closed({ kind: anything, input: anyObject }),
  annotate: closed({ kind: anything, text: text(MAX_TEXT) }),
});

const CANCEL = closed({ id: integer(1, Number.MAX_SAFE_INTEGER) });

export const METHODS: Readonly<Record<string, Method>> = {
  'host/hello': {
    from: 'host',
    params: closed({ protocol: integer(1, 1_000), runtime: closed({ name: oneOf('node'), version: text(64) }) }),
  },
  'host/initialize': {
    from: 'core',
    params: tolerant({ protocol: integer(1, 1_000), confined: flag, probe_port: integer(0, 65_535) }),
    result: closed({ tried: listOf(text(SHORT), 64) }),
  },
  'host/ping': { from: 'core', params: tolerant({}), result: EMPTY },
  'host/shutdown': { from: 'core', params: tolerant({}), result: EMPTY },
  'ext/activate': {
    from: 'core',
    params: tolerant({
      owner: OWNER_SENT,
      plugin_name: text(SHORT),
      root: text(PATH, 1),
      entries: listOf(tolerant({ path: text(PATH, 1), sha256: DIGEST }), 64),
      files: recordOf(DIGEST, 4_096),
      config: anything,
      data_dir: text(PATH, 1),
      services: listOf(text(SHORT), 64),
    }),
    result: closed({ status: oneOf('ok', 'failed'), entries: listOf(ENTRY_OUTCOME, 64) }),
  },
  'ext/deactivate': {
    from: 'core',
    params: tolerant({ owner: OWNER_SENT }),
    result: closed({ disposed: flag, leaked: listOf(text(1_024), 1_024) }),
  },
  'tool/call': {
    from: 'core',
    params: tolerant(
      { handle: HANDLE, call_id: text(SHORT, 1), input: anything, deadline_ms: DEADLINE },
      { ticket: text(SHORT), ...CALLER },
    ),
    result: closed({ content: text(MAX_TEXT), failed: flag }),
  },
  'command/run': {
    from: 'core',
    params: tolerant({ handle: HANDLE, command_id: text(SHORT, 1), raw_input: text(MAX_TEXT), deadline_ms: DEADLINE }, CALLER),
    result: closed({ kind: oneOf('success', 'error', 'submit'), text: text(MAX_TEXT) }, { prompt: text(MAX_TEXT) }),
  },
  'hook/evaluate': {
    from: 'core',
    params: tolerant({
      handle: HANDLE,
      event: oneOf('tools/pre-execute'),
      payload: tolerant({
        name: text(SHORT),
        call_id: text(SHORT),
        input: anything,
        mode: text(SHORT),
        workspace: text(PATH),
        model: text(SHORT),
      }),
      deadline_ms: DEADLINE,
    }),
    result: HOOK_ANSWER,
  },
  'registry/register': {
    from: 'host',
    params: closed({ owner: OWNER, entry: text(PATH, 1), spec: REGISTRATION }),
    result: tolerant({ handle: HANDLE }),
  },
  'registry/unregister': { from: 'host', params: closed({ owner: OWNER, handle: HANDLE }), result: tolerant({}) },
  'schema/check': {
    from: 'host',
    params: closed({ owner: OWNER, schema: anyObject, value: anything }),
    result: tolerant({ issues: listOf(text(MESSAGE), 64) }),
  },
  'core/call': {
    from: 'host',
    params: closed({ owner: OWNER, ticket: text(SHORT, 1), name: text(SHORT, 1), input: anything }),
    result: tolerant({ content: text(MAX_TEXT), isError: flag }),
  },
  'service/call': {
    from: 'host',
    params: closed({
      owner: OWNER,
      ticket: text(SHORT),
      service: oneOf('files', 'network', 'model'),
      operation: text(64, 1),
      input: anything,
    }),
    result: anything,
  },
  'ext/faulted': { from: 'host', params: closed({ message: text(MESSAGE) }, { owner: OWNER }) },
  log: {
    from: 'host',
    params: closed({ level: oneOf('debug', 'info', 'warning', 'error'), message: text(MESSAGE) }, { owner: OWNER }),
  },
};

/** The one method of both directions: withdraws a request of the sender's own. */
export const CANCEL_METHOD = '$/cancel';
export const CANCEL_PARAMS = CANCEL;

export const RPC = {
  parse: -32700,
  request: -32600,
  method: -32601,
  params: -32602,
  internal: -32603,
  failed: -32000,
  unavailable: -32001,
  refused: -32002,
  denied: -32003,
  cancelled: -32800,
} as const;
