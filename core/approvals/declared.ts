import type { FileChange, ToolEffects, ToolSpec } from '../../ports/plugin.ts';

const MAX_TARGETS = 256;

/** The declared effects of a call, or undefined when there are none, they throw or they are not what the interface says. */
export function effectsOf(tool: ToolSpec, input: unknown): ToolEffects | undefined {
  try {
    const effects: unknown = tool.effects?.(input as never);
    return isEffects(effects) ? effects : undefined;
  } catch {
    return undefined;
  }
}

function isEffects(value: unknown): value is ToolEffects {
  if (typeof value !== 'object' || value === null) return false;
  const { reads, writes, hosts, uploads, command, changes } = value as Record<string, unknown>;
  if (uploads !== undefined && typeof uploads !== 'boolean') return false;
  if (changes !== undefined && !(Array.isArray(changes) && changes.length <= MAX_TARGETS && changes.every(isChange))) return false;
  return [reads, writes, hosts].every(isTargets) && (command === undefined || typeof command === 'string');
}

function isTargets(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length <= MAX_TARGETS && value.every((item) => typeof item === 'string'));
}

function isChange(value: unknown): value is FileChange {
  if (typeof value !== 'object' || value === null) return false;
  const { path, content, old, replacement } = value as Record<string, unknown>;
  if (typeof path !== 'string') return false;
  return typeof content === 'string' || (typeof old === 'string' && typeof replacement === 'string');
}

/** What a tool says that it would do, in words for a person to weigh. */
export function inWords({ reads = [], writes = [], hosts = [], uploads = false, command }: ToolEffects): string {
  const parts = [
    ...(command === undefined ? [] : [`run ${command}`]),
    ...(writes.length === 0 ? [] : [`write ${writes.join(', ')}`]),
    ...(reads.length === 0 ? [] : [`read ${reads.join(', ')}`]),
    ...(hosts.length === 0 ? [] : [`${uploads ? 'change something at' : 'reach'} ${hosts.join(', ')}`]),
  ];
  if (parts.length === 0) return uploads ? 'send something somewhere' : 'touch nothing outside the run';
  return parts.join('; ');
}
