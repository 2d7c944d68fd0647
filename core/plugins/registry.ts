import type { ToolDefinition } from '../../ports/llm.ts';
import { type Disposer, PluginError, type ToolRegistrar, type ToolSpec } from '../../ports/plugin.ts';
import type { McpMark, McpTool } from '../mcp/tool.ts';

/** A tool together with who registered it. */
export interface RegisteredTool {
  /** Name of the plugin, or of whatever else registered it. */
  readonly owner: string;
  readonly spec: ToolSpec;
  /** Absolute path of the owner's own folder; may not exist yet. */
  readonly dataDir: string;
  /** It is the tool of an MCP server. Only {@link ToolRegistry.registerMcp} sets this, which no plugin reaches. */
  readonly mcp?: McpMark;
}

/** All tools of one host. `list` and `definitions` are in name order and keep their identity until something changes. */
export interface ToolRegistry {
  /** What `owner` registers through. */
  registrar(owner: string): ToolRegistrar;
  /** Registers a tool of an MCP server under its own kind of name, `<server>__<tool>`. Throws {@link PluginError} as a registrar does. */
  registerMcp(tool: McpTool): Disposer;
  /** Who has a name or may have it: `the plugin files`, …; undefined when it is free. */
  holderOf(name: string): string | undefined;
  get(name: string): RegisteredTool | undefined;
  list(): readonly RegisteredTool[];
  /** What a model is told, cached so that a provider may reuse what it derived. */
  definitions(): readonly ToolDefinition[];
  /** Tells `listener` at once whenever a tool came or went. Returns what stops the telling. */
  onChange(listener: () => void): Disposer;
}

export interface ToolRegistryOptions {
  /** Where an owner keeps its data. Absent: `plugins/<owner>`. */
  readonly dataDirOf?: (owner: string) => string;
  /** Names that only one owner may take, by name; also while that owner is not there. */
  readonly reserved?: Readonly<Record<string, string>>;
}

export const MAX_TOOL_NAME = 64;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const SEPARATOR = '__';
const SHOWN_NAME = 80;

/** Makes an empty registry. Its registrars throw {@link PluginError} for a bad or taken name and for a malformed tool. */
export function createToolRegistry(options: ToolRegistryOptions = {}): ToolRegistry {
  const dataDirOf = options.dataDirOf ?? ((owner: string) => `plugins/${owner}`);
  const tools = new Map<string, RegisteredTool>();
  let listed: readonly RegisteredTool[] | undefined;
  let defined: readonly ToolDefinition[] | undefined;

  const listeners = new Set<() => void>();

  const forget = () => {
    listed = undefined;
    defined = undefined;
    for (const listener of listeners) listener();
  };

  const register = (owner: string, spec: ToolSpec, mcp?: McpMark): Disposer => {
    checkTool(owner, spec, mcp !== undefined);
    const keeper = options.reserved !== undefined && Object.hasOwn(options.reserved, spec.name) ? options.reserved[spec.name] : owner;
    if (keeper !== owner) {
      throw new PluginError('tool_name_taken', `${owner}: tool name "${spec.name}" is reserved for ${keeper}`, { value: spec.name });
    }
    const taken = tools.get(spec.name);
    if (taken) {
      throw new PluginError('tool_name_taken', `${owner}: tool "${spec.name}" is already registered by ${taken.owner}`, {
        value: spec.name,
      });
    }
    const entry: RegisteredTool = { owner, spec, dataDir: dataDirOf(owner), ...(mcp && { mcp }) };
    tools.set(spec.name, entry);
    forget();
    return () => {
      if (tools.get(spec.name) !== entry) return;
      tools.delete(spec.name);
      forget();
    };
  };

  const list = () => {
    listed ??= Object.freeze([...tools.values()].sort((a, b) => (a.spec.name < b.spec.name ? -1 : 1)));
    return listed;
  };

  return {
    registrar: (owner) => ({ register: (spec) => register(owner, spec) }),
    registerMcp: ({ spec, mark }) => register(`mcp-${mark.server}`, spec, mark),
    holderOf(name) {
      const keeper = options.reserved !== undefined && Object.hasOwn(options.reserved, name) ? options.reserved[name] : undefined;
      const holder = tools.get(name)?.owner ?? keeper;
      return holder === undefined ? undefined : holderText(tools.get(name), holder);
    },
    get: (name) => tools.get(name),
    list,
    definitions() {
      defined ??= Object.freeze(
        list().map(({ spec }) => ({ name: spec.name, description: spec.description, parameters: spec.parameters })),
      );
      return defined;
    },
    onChange(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function holderText(tool: RegisteredTool | undefined, owner: string): string {
  return tool?.mcp === undefined ? `the plugin "${owner}"` : `tool "${tool.mcp.tool}" of the MCP server "${tool.mcp.server}"`;
}

/** The separator stands in every name of an MCP tool and in no other one, so that neither can pass for the other. */
function checkTool(owner: string, spec: ToolSpec, isMcp: boolean): void {
  const name: unknown = spec?.name;
  if (typeof name !== 'string' || !NAME.test(name) || name.includes(SEPARATOR) !== isMcp) {
    const shown = typeof name === 'string' ? JSON.stringify(name.slice(0, SHOWN_NAME)) : typeof name;
    throw new PluginError(
      'invalid_tool_name',
      `${owner}: tool name ${shown} must be 1 to ${MAX_TOOL_NAME} of A-Z a-z 0-9 _ -, ${isMcp ? 'with' : 'without'} "${SEPARATOR}"`,
      {
        value: typeof name === 'string' ? name.slice(0, SHOWN_NAME) : name,
        limit: MAX_TOOL_NAME,
      },
    );
  }
  const fault = faultOf(spec);
  if (fault) throw new PluginError('invalid_tool', `${owner}: tool "${name}" ${fault}`, { value: name });
}

function faultOf(spec: ToolSpec): string | undefined {
  if (typeof spec.description !== 'string' || spec.description.trim() === '') return 'has no description';
  if (!isObject(spec.parameters)) return 'has parameters that are not a JSON Schema object';
  if (spec.parameters.type !== 'object')
    return `has parameters of type ${JSON.stringify(spec.parameters.type)}; the schema must say "type": "object"`;
  if (typeof spec.execute !== 'function') return 'has no execute function';
  if (spec.effects !== undefined && typeof spec.effects !== 'function') return 'has effects that are not a function';
  if (!isPositive(spec.maxResultChars)) return `has maxResultChars ${String(spec.maxResultChars)}; it must be a positive number`;
  if (!isPositive(spec.timeoutMs)) return `has timeoutMs ${String(spec.timeoutMs)}; it must be a positive number`;
  return undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isPositive(value: number | undefined): boolean {
  return value === undefined || (Number.isFinite(value) && value > 0);
}
