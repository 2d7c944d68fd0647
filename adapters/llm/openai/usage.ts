import type { Usage } from '../../../ports/message.ts';
import { asCount, asObject } from '../json-reading.ts';

/** Reads a `usage` object; undefined when there is none in it. `input` excludes what was read from the cache. */
export function readUsage(raw: unknown): Usage | undefined {
  const usage = asObject(raw);
  const prompt = asCount(usage?.prompt_tokens);
  const output = asCount(usage?.completion_tokens);
  if (usage === undefined || (prompt === undefined && output === undefined)) return undefined;
  const cached = asCount(asObject(usage.prompt_tokens_details)?.cached_tokens) ?? asCount(usage.prompt_cache_hit_tokens);
  const input = Math.max(0, (prompt ?? 0) - (cached ?? 0));
  const counted = { input, output: output ?? 0, estimated: false };
  return cached === undefined ? counted : { ...counted, cache_read: cached };
}

/** The later report counts, except for the all-zero filler that some services send with every chunk. */
export function laterUsage(before: Usage | undefined, after: Usage | undefined): Usage | undefined {
  if (after === undefined) return before;
  const filler = after.input === 0 && after.output === 0 && (after.cache_read ?? 0) === 0;
  return filler && before !== undefined ? before : after;
}
