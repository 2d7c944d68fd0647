import { isObject, shown } from './problem.ts';

/** One thing that a test asks of a plugin, and what must come of it. */
export type PluginTestCase =
  | { readonly kind: 'tool'; readonly name: string; readonly input: unknown; readonly output: string; readonly fails: boolean }
  | { readonly kind: 'command'; readonly name: string; readonly args: string; readonly output: string; readonly fails: boolean }
  | { readonly kind: 'hook'; readonly name: string; readonly input: unknown; readonly verdict: Readonly<Record<string, unknown>> };

export interface PluginTestFile {
  readonly config: Readonly<Record<string, unknown>>;
  readonly cases: readonly PluginTestCase[];
}

const KEYS = ['config', 'tools', 'commands', 'hooks'];
const MAX_CASES = 200;

/** Reads `plugin.test.json`: settings, and lists of calls with what they must give. Returns text for what is wrong. */
export function parseTestFile(text: string): PluginTestFile | string {
  let root: unknown;
  try {
    root = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  if (!isObject(root)) return `it must be an object, not ${shown(root)}`;
  const extra = Object.keys(root).find((key) => !KEYS.includes(key));
  if (extra !== undefined) return `it has the key ${shown(extra)}; it may have ${KEYS.join(', ')}`;
  const { config = {}, tools = [], commands = [], hooks = [] } = root;
  if (!isObject(config)) return `config must be an object, not ${shown(config)}`;
  if (!Array.isArray(tools) || !Array.isArray(commands) || !Array.isArray(hooks)) return 'tools, commands and hooks must be lists';
  if (tools.length + commands.length + hooks.length > MAX_CASES) return `it has more than ${MAX_CASES} calls`;
  const cases = [...tools.map(toolCase), ...commands.map(commandCase), ...hooks.map(hookCase)];
  const bad = cases.find((each) => typeof each === 'string');
  return typeof bad === 'string' ? bad : { config, cases: cases.filter((each) => typeof each !== 'string') };
}

/** The members of one case, where no other key is among them; text otherwise. */
function members(value: unknown, keys: readonly string[]): Readonly<Record<string, unknown>> | string {
  if (!isObject(value)) return `a call must be an object, not ${shown(value)}`;
  const extra = Object.keys(value).find((key) => !keys.includes(key));
  return extra === undefined ? value : `a call has the key ${shown(extra)}; it may have ${keys.join(', ')}`;
}

function toolCase(value: unknown): PluginTestCase | string {
  const given = members(value, ['name', 'input', 'output', 'error']);
  if (typeof given === 'string') return given;
  const { name, input = {}, output, error } = given;
  const told = error ?? output;
  if (typeof name !== 'string' || typeof told !== 'string') return 'a call of a tool needs name, and output or error, as texts';
  return { kind: 'tool', name, input, output: told, fails: error !== undefined };
}

function commandCase(value: unknown): PluginTestCase | string {
  const given = members(value, ['name', 'args', 'output', 'error']);
  if (typeof given === 'string') return given;
  const { name, args = '', output, error } = given;
  const told = error ?? output;
  if (typeof name !== 'string' || typeof args !== 'string' || typeof told !== 'string')
    return 'a command needs name, args, and output or error, as texts';
  return { kind: 'command', name, args, output: told, fails: error !== undefined };
}

function hookCase(value: unknown): PluginTestCase | string {
  const given = members(value, ['tool', 'arguments', 'verdict']);
  if (typeof given === 'string') return given;
  const { tool, arguments: input = {}, verdict } = given;
  if (typeof tool !== 'string' || !isObject(verdict)) return 'a call that a hook looks at needs tool and verdict';
  return { kind: 'hook', name: tool, input, verdict };
}
