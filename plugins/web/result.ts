import type { ToolResult } from '../../ports/plugin.ts';

export function success(value: object, source: string): ToolResult {
  return { content: JSON.stringify(value), source };
}

export function failure(value: { readonly error: string; readonly [more: string]: unknown }, source: string): ToolResult {
  return { content: JSON.stringify(value), failed: true, source };
}
