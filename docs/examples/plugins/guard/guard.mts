import type { PluginContext, PluginPreExecute, PluginVerdict } from 'odek/plugin';

const FORCE_PUSH = /\bgit\s+push\b.*(?:--force\b|\s-f\b)/;

/** What a call would run or write, as text; other tools than these have other arguments. */
function textOf(value: unknown, key: string): string {
  const member = typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined;
  return typeof member === 'string' ? member : '';
}

function verdict({ name, arguments: input }: PluginPreExecute): PluginVerdict {
  if (name === 'shell' && FORCE_PUSH.test(textOf(input, 'command'))) {
    return { kind: 'deny', reason: 'a force push rewrites what others have; push without --force' };
  }
  if (textOf(input, 'path').startsWith('migrations/')) {
    return { kind: 'ask', reason: 'migrations run in production' };
  }
  return { kind: 'abstain' };
}

export function apply(ctx: PluginContext): void {
  ctx.on('tools/pre-execute', (call) => verdict(call));
}
