import type { Usage } from '../../../ports/message.ts';
import { asCount, asObject } from '../json-reading.ts';

/**
 * Reads a `usage` object; undefined when there is none in it. `input` excludes what the cache gave
 * and took. Only a service that counts what its cache lacked tells what was written to it.
 */
export function readUsage(raw: unknown): Usage | undefined {
  const usage = asObject(raw);
  const prompt = asCount(usage?.prompt_tokens);
  const output = asCount(usage?.completion_tokens);
  if (usage === undefined || (prompt === undefined && output === undefined)) return undefined;
  const cached = asCount(asObject(usage.prompt_tokens_details)?.cached_tokens) ?? asCount(usage.prompt_cache_hit_tokens);
  const missed = asCount(usage.prompt_cache_miss_tokens);
  return {
    input: Math.max(0, (prompt ?? 0) - (cached ?? 0) - (missed ?? 0)),
    output: output ?? 0,
    ...(cached === undefined ? {} : { cache_read: cached }),
    ...(missed === undefined ? {} : { cache_write: missed }),
    estimated: false,
  };
}

/** The later report counts, except for the all-zero filler that some services send with every chunk. */
export function laterUsage(before: Usage | undefined, after: Usage | undefined): Usage | undefined {
  if (after === undefined) return before;
  const filler = after.input + after.output + (after.cache_read ?? 0) + (after.cache_write ?? 0) === 0;
  return filler && before !== undefined ? before : after;
}
