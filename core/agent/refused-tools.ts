import { hasCode } from '../../ports/errors.ts';
import type { LlmProvider, ProviderError, ToolDefinition } from '../../ports/llm.ts';
import type { JsonSchema } from '../../ports/message.ts';
import type { RegisteredTool } from '../plugins/registry.ts';

/** Tools that one request may lose; a service that refuses more refuses something else. */
export const MAX_REFUSED = 8;
const PLACE = /(?:\btools|\bfunctions|function_?declarations)(?:\[(\d+)\]|\.(\d+)\b)(?!.*function_?declarations)/i;
const BAD_REQUEST: ReadonlySet<number | undefined> = new Set([400, 422]);

/**
 * The schemas that each service refused. A tool that comes back with another schema is offered again,
 * and another service is asked for itself.
 */
const REFUSED = new WeakMap<LlmProvider, WeakSet<JsonSchema>>();
const OFFERED = new WeakMap<
  readonly ToolDefinition[],
  { readonly from: WeakSet<JsonSchema>; readonly offered: readonly ToolDefinition[] }
>();

/** The definitions without those that this service refused; the same list each time while nothing changes. */
export function offeredTo(provider: LlmProvider, definitions: readonly ToolDefinition[]): readonly ToolDefinition[] {
  const refused = REFUSED.get(provider);
  if (refused === undefined) return definitions;
  const known = OFFERED.get(definitions);
  if (known?.from === refused) return known.offered;
  const offered = definitions.filter(({ parameters }) => !refused.has(parameters));
  OFFERED.set(definitions, { from: refused, offered });
  return offered;
}

/** From now on {@link offeredTo} leaves `tool` out for this service. */
export function refuse(provider: LlmProvider, tool: ToolDefinition, definitions: readonly ToolDefinition[]): void {
  const refused = REFUSED.get(provider) ?? new WeakSet();
  REFUSED.set(provider, refused.add(tool.parameters));
  OFFERED.delete(definitions);
}

/**
 * The tool of somebody else because of which a service refused a whole request, as far as its message
 * tells: by its name, or by its place among the `offered` ones. One of odek's own is never given up.
 */
export function refusedTool(
  error: unknown,
  offered: readonly ToolDefinition[],
  lookUp: (name: string) => RegisteredTool | undefined,
): ToolDefinition | undefined {
  if (!hasCode(error, 'provider_request') || !BAD_REQUEST.has((error as ProviderError).status)) return undefined;
  const isForeign = (tool: ToolDefinition | undefined): boolean => tool !== undefined && lookUp(tool.name)?.mcp !== undefined;
  const words = new Set(error.message.match(/[A-Za-z0-9_-]+/g));
  const named = offered.filter((tool) => words.has(tool.name) && isForeign(tool));
  if (named.length === 1) return named[0];
  const place = PLACE.exec(error.message);
  const placed = named.length > 1 || place === null ? undefined : offered[Number(place[1] ?? place[2])];
  return isForeign(placed) ? placed : undefined;
}
