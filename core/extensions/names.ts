/** Every tool that odek brings, on whatever surface: the names stay taken where a tool is switched off. */
const BUILT_IN_TOOLS: ReadonlySet<string> = new Set([
  'artifact_read',
  'base64',
  'bg_list',
  'bg_output',
  'bg_start',
  'bg_status',
  'bg_stop',
  'browser',
  'checksum',
  'clarify',
  'config_view',
  'diff',
  'file_info',
  'glob',
  'head_tail',
  'http_request',
  'json_query',
  'list_tools',
  'math_eval',
  'patch',
  'plan',
  'read_file',
  'search_files',
  'session_search',
  'shell',
  'skill_list',
  'skill_load',
  'tree',
  'web_search',
  'write_file',
]);

/** Beginnings that approvals, evidence and limits of odek go by, now or some day. */
const RESERVED_FAMILIES = [
  'agent_',
  'artifact_',
  'bg_',
  'config_',
  'exec_',
  'ext_',
  'file_',
  'get_',
  'http_',
  'list_',
  'mcp_',
  'memory_',
  'odek_',
  'plan_',
  'read_',
  'schedule_',
  'search_',
  'session_',
  'skill_',
  'web_',
  'write_',
] as const;

/** Single words of the same kind. */
const RESERVED_WORDS: ReadonlySet<string> = new Set([
  'bash',
  'computer',
  'delegate',
  'describe',
  'edit',
  'exec',
  'execute',
  'fetch',
  'list',
  'memory',
  'python',
  'read',
  'remember',
  'run',
  'schedule',
  'search',
  'send_message',
  'speak',
  'terminal',
  'todo',
  'transcribe',
  'vision',
  'write',
]);

const TOOL_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const COMMAND_NAME = /^[a-z][a-z0-9_-]{0,63}$/;
const SECTION_ID = /^[a-z][a-z0-9_-]{0,63}$/;
const SERVER_NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;
const SHOWN = 80;

function shown(name: string): string {
  return JSON.stringify(name.slice(0, SHOWN));
}

/** What is wrong with the name of a third party's tool; undefined when nothing is. Whether somebody else has it is not looked at. */
export function toolNameFault(name: string): string | undefined {
  if (!TOOL_NAME.test(name) || name.includes('__')) {
    return `tool name ${shown(name)} must begin with a letter and have 1 to 64 of A-Z a-z 0-9 _ -, without "__"`;
  }
  const lower = name.toLowerCase().replaceAll('-', '_');
  if (BUILT_IN_TOOLS.has(lower) || RESERVED_WORDS.has(lower))
    return `tool name ${shown(name)} is reserved for odek; put the plugin's name before it`;
  const family = RESERVED_FAMILIES.find((each) => lower.startsWith(each));
  if (family === undefined) return undefined;
  return `tool name ${shown(name)} is reserved: names that begin with "${family}" are odek's; put the plugin's name before it`;
}

/** The same for a slash command. `builtIn`: names that odek's own commands have. */
export function commandNameFault(name: string, builtIn: ReadonlySet<string>): string | undefined {
  if (!COMMAND_NAME.test(name)) return `command name ${shown(name)} must begin with a lower-case letter and have 1 to 64 of a-z 0-9 _ -`;
  return builtIn.has(name) ? `command name ${shown(name)} is one of odek's own` : undefined;
}

export function sectionIdFault(id: string): string | undefined {
  return SECTION_ID.test(id) ? undefined : `section id ${shown(id)} must begin with a lower-case letter and have 1 to 64 of a-z 0-9 _ -`;
}

export function serverNameFault(name: string): string | undefined {
  if (SERVER_NAME.test(name) && !name.includes('__')) return undefined;
  return `server name ${shown(name)} must begin with a letter and have 1 to 64 of A-Z a-z 0-9 _ -, without "__"`;
}

/** What is wrong with a path below a bundle; undefined when nothing is. */
export function bundlePathFault(path: string, maxBytes: number): string | undefined {
  const parts = path.split('/');
  const isNormal = parts.every((part) => part !== '' && part !== '.' && part !== '..' && !/[\\\p{Cc}]/u.test(part));
  if (isNormal && new TextEncoder().encode(path).length <= maxBytes) return undefined;
  return `path ${shown(path)} must be relative to the bundle, with plain parts between slashes, of at most ${maxBytes} bytes`;
}
