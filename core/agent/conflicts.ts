import type { ToolEffects } from '../../ports/plugin.ts';
import type { PreparedCall } from './prepare.ts';

/** Absolute, without `.` and `..`; links are not looked at, which core cannot do. */
function normalise(workspace: string, path: string): string {
  const parts: string[] = [];
  for (const part of (path.startsWith('/') ? path : `${workspace}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

function overlaps(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`) || a === '/' || b === '/';
}

function anyOverlap(workspace: string, left: readonly string[], right: readonly string[]): boolean {
  if (left.length === 0 || right.length === 0) return false;
  const others = right.map((path) => normalise(workspace, path));
  return left.some((path) => others.some((other) => overlaps(normalise(workspace, path), other)));
}

function touches(effects: ToolEffects): readonly string[] {
  return [...(effects.reads ?? []), ...(effects.writes ?? [])];
}

function isBarrier(effects: ToolEffects | undefined): boolean {
  return effects?.command !== undefined || effects?.uploads === true;
}

/**
 * Whether `later` has to wait for `earlier` (RUNTIME-FACTS 1.3): a shell command, and what changes
 * another host, is a barrier to both sides, a write waits for whatever touches the same path and the other way round, and a tool that
 * does not say what it touches is kept apart from writes. Calls of an ordered tool follow each other.
 */
export function conflicts(earlier: PreparedCall, later: PreparedCall, workspace: string): boolean {
  if ('refusal' in earlier || 'refusal' in later) return false;
  if (earlier.tool.spec.ordered === true && earlier.tool === later.tool) return true;
  const [a, b] = [earlier.effects, later.effects];
  if (isBarrier(a) || isBarrier(b)) return true;
  if (!a || !b) return Boolean(a?.writes?.length || b?.writes?.length);
  return anyOverlap(workspace, a.writes ?? [], touches(b)) || anyOverlap(workspace, b.writes ?? [], touches(a));
}
