import type { ToolCall } from '../../ports/message.ts';
import type { ToolRegistry } from '../plugins/registry.ts';
import type { Redactor } from '../redact/redactor.ts';

const MAX_NAME = 64;

/**
 * The calls with names that can be stored, shown and sent back. A model may invent any name; services
 * refuse a conversation for ever once it holds one that is not made of `[A-Za-z0-9_-]`.
 */
export function withSafeNames(calls: readonly ToolCall[], tools: Pick<ToolRegistry, 'get'>, redactor: Redactor): readonly ToolCall[] {
  return calls.map((call) => {
    if (tools.get(call.name)) return call;
    const name = redactor
      .text(call.name)
      .replaceAll(/[^A-Za-z0-9_-]/g, '_')
      .slice(0, MAX_NAME);
    return name === call.name ? call : { ...call, name };
  });
}
