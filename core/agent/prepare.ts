import type { ToolCall } from '../../ports/message.ts';
import type { ToolEffects } from '../../ports/plugin.ts';
import type { SchemaIssue } from '../../ports/schema.ts';
import type { RegisteredTool } from '../plugins/registry.ts';
import type { AgentDeps } from './settings.ts';

/** A call that may go on to approval and execution. */
export interface ReadyCall {
  readonly call: ToolCall;
  readonly tool: RegisteredTool;
  readonly input: unknown;
  /** Absent: the tool does not say what it touches. */
  readonly effects: ToolEffects | undefined;
  /** Set by a pre-execute listener: who wants a person to be asked about it, and why. */
  readonly ask?: { readonly by: string; readonly reason: string };
  /** Set by pre-execute listeners: lines that the model gets with the result. */
  readonly notes?: readonly string[];
}

/** A call that ends here, with the text that tells the model how to repair it. */
export interface RefusedCall {
  readonly call: ToolCall;
  readonly refusal: string;
  /** Absent: `failed`. */
  readonly outcome?: 'failed' | 'denied';
}

export type PreparedCall = ReadyCall | RefusedCall;

type PrepareDeps = Pick<AgentDeps, 'tools' | 'validator'>;

/** Calls of one response that are looked at; the rest are refused. */
export const MAX_CALLS_PER_RESPONSE = 128;
const SHOWN_NAMES = 40;

function unknownTool(call: ToolCall, deps: PrepareDeps): string {
  const names = deps.tools.list().map((tool) => tool.spec.name);
  const shown = names.slice(0, SHOWN_NAMES).join(', ');
  return `error: tool "${call.name}" not found. Available tools: ${shown}${names.length > SHOWN_NAMES ? ', …' : ''}`;
}

function parseArguments(call: ToolCall): { readonly input: unknown } | { readonly fault: string } {
  if (call.arguments.trim() === '') return { input: {} };
  try {
    return { input: JSON.parse(call.arguments) };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

function describeIssues(issues: readonly SchemaIssue[]): string {
  return issues.map((issue) => `- ${issue.path === '' ? '(arguments)' : issue.path}: ${issue.message}`).join('\n');
}

/** The tool of an MCP server keeps its own schema: the model's is a simpler one. What nothing here can check is still an object. */
async function issuesOf({ spec, mcp }: RegisteredTool, input: unknown, deps: PrepareDeps): Promise<readonly SchemaIssue[]> {
  if (mcp === undefined) return (await deps.validator.compile(spec.parameters))(input);
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return [{ path: '', message: 'must be a JSON object' }];
  return mcp.check?.(input) ?? [];
}

async function validate(tool: RegisteredTool, input: unknown, deps: PrepareDeps): Promise<string | undefined> {
  const issues = await issuesOf(tool, input, deps);
  if (issues.length === 0) return undefined;
  return `error: invalid arguments for tool "${tool.spec.name}":\n${describeIssues(issues)}\nCorrect these and call the tool again.`;
}

function effectsOf(tool: RegisteredTool, input: unknown): ToolEffects | undefined {
  try {
    return tool.spec.effects?.(input as never);
  } catch {
    return undefined;
  }
}

/** Resolves a call to its tool and a validated input (DECISIONS 3: resolve, validate). Never throws for what a model wrote. */
export async function prepareCall(call: ToolCall, index: number, deps: PrepareDeps): Promise<PreparedCall> {
  if (index >= MAX_CALLS_PER_RESPONSE) {
    return {
      call,
      refusal: `error: not executed: more than ${MAX_CALLS_PER_RESPONSE} tool calls in one response. Ask again in smaller batches.`,
    };
  }
  const tool = deps.tools.get(call.name);
  if (!tool) return { call, refusal: unknownTool(call, deps) };
  const parsed = parseArguments(call);
  if (tool.spec.ownsValidation) {
    // Its own diagnostics answer for text that is not JSON, too.
    const input = 'fault' in parsed ? call.arguments : parsed.input;
    return { call, tool, input, effects: effectsOf(tool, input) };
  }
  if ('fault' in parsed) {
    return { call, refusal: `error: invalid arguments for tool "${call.name}": not valid JSON (${parsed.fault}). Send one JSON object.` };
  }
  const refusal = await validate(tool, parsed.input, deps);
  if (refusal !== undefined) return { call, refusal };
  return { call, tool, input: parsed.input, effects: effectsOf(tool, parsed.input) };
}
