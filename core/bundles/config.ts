import { BUNDLE_LIMITS } from './limits.ts';

/** Why the operator's settings for a plugin cannot be delivered; undefined where they can. They are never cut short. */
export function configProblem(config: Readonly<Record<string, unknown>>): string | undefined {
  if (isDeeper(config, BUNDLE_LIMITS.configDepth)) return `it is nested deeper than ${BUNDLE_LIMITS.configDepth} levels`;
  const bytes = new TextEncoder().encode(JSON.stringify(config)).length;
  return bytes > BUNDLE_LIMITS.configBytes ? `it has ${bytes} bytes, the limit is ${BUNDLE_LIMITS.configBytes}` : undefined;
}

/** An object or a list is one level, and what lies in it one more. */
function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return levels === 0 || Object.values(value).some((member) => isDeeper(member, levels - 1));
}
