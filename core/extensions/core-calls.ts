import type { Judgement } from '../approvals/judge.ts';
import type { RegisteredTool } from '../plugins/registry.ts';

/** Calls that one tool call may have core make, and how many of them at once. */
export const MAX_CORE_CALLS = 50;
export const MAX_CORE_CALLS_AT_ONCE = 4;

/** Tools that no plugin may have run: they ask a person, change what the run may do, or reach what outlives it. */
const REFUSED: Readonly<Record<string, string>> = {
  clarify: 'it asks the person at the keyboard',
  plan: 'it steers the run',
  bg_start: 'it starts work that outlives the call',
  bg_stop: 'it ends work of the run',
  bg_list: 'it belongs to the work of the run',
  bg_status: 'it belongs to the work of the run',
  bg_output: 'it belongs to the work of the run',
  list_tools: 'it tells what the model may do',
  config_view: 'it tells how odek is set up',
  session_search: 'it reads other conversations',
  artifact_read: 'it reads results of other tools',
  skill_load: 'it is for the model',
  skill_list: 'it is for the model',
  remember: 'it writes what later runs are told',
  memory: 'it writes what later runs are told',
  schedule: 'it schedules work',
  send_message: 'it speaks to people',
  browser: 'it is interactive',
};
/** Families of the same kind, also those that come later. */
const REFUSED_FAMILY = /^(memory|skill|schedule|goal|automation|subagent|agent|delegate|bg|plugin|mcp|ext)(_|$)/;

/** Read-only tools that stay in the workspace: nobody is asked when nothing else wants it. */
const UNASKED: ReadonlySet<string> = new Set([
  'read_file',
  'search_files',
  'glob',
  'file_info',
  'tree',
  'diff',
  'json_query',
  'checksum',
  'head_tail',
]);

/** Why a plugin may not have this tool run, or undefined when it may be asked for. Nothing is run, and nobody is asked. */
export function coreCallRefusal(name: string, tool: RegisteredTool | undefined, isForeign: boolean): string | undefined {
  const lower = name.toLowerCase();
  const reason = Object.hasOwn(REFUSED, lower) ? REFUSED[lower] : undefined;
  if (reason !== undefined) return `the tool "${lower}" cannot be run for a plugin: ${reason}`;
  if (lower.includes('__') || tool?.mcp !== undefined) return 'tools of MCP servers cannot be run for a plugin';
  if (isForeign) return 'a plugin cannot have a tool of a plugin run, its own included';
  if (REFUSED_FAMILY.test(lower)) return `the tool "${lower}" cannot be run for a plugin`;
  return undefined;
}

/** Who asks core to run a tool. */
export interface CoreCaller {
  /** `extension:<plugin>`. */
  readonly plugin: string;
  /** The plugin's tool that is running. */
  readonly tool: string;
  /** Plugin and reviewed bytes: whose trust counts. */
  readonly build: string;
}

/**
 * The same call, judged as a plugin's: it is asked about unless it only reads in the workspace or the
 * operator allows everything; shell and network are asked about every time. What is denied stays denied.
 */
export function judgedForPlugin(
  judged: Judgement,
  ready: Pick<ReadyFacts, 'tool' | 'effects'>,
  caller: CoreCaller,
  isFullAccess: boolean,
): Judgement {
  const reason = `Requested by ${caller.plugin} from inside its tool ${caller.tool}; ${judged.reason}`;
  const own = { ...judged, reason, scope: `${caller.build} through core` };
  if (judged.refused || judged.action === 'deny') return own;
  const { command, hosts = [], uploads } = ready.effects ?? {};
  if (command !== undefined || hosts.length > 0 || uploads === true) {
    return { ...own, action: 'prompt', explicit: false, everyCall: true, askedBy: 'a command or a request of a plugin' };
  }
  const isHarmless = UNASKED.has(ready.tool.spec.name) && judged.classes.every((cls) => cls === 'safe');
  if ((isHarmless && judged.action === 'allow' && judged.everyCall !== true) || isFullAccess) return own;
  return { ...own, action: 'prompt', explicit: false, needsPerson: true };
}

interface ReadyFacts {
  readonly tool: RegisteredTool;
  readonly effects: { readonly command?: string; readonly hosts?: readonly string[]; readonly uploads?: boolean } | undefined;
}
