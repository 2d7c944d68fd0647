import type { ModelInfo } from '../../../ports/llm.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject } from '../json-reading.ts';

const MAX_PAGES = 10;
const MAX_MODELS = 5_000;

export interface ModelPage {
  /** What the service calls its models; anything but a list counts as none. */
  readonly entries: unknown;
  /** Asks for the next page; undefined at the end. */
  readonly next: string | undefined;
}

/** All models of at most 10 pages and 5,000 entries, each id once, in the order of the service. */
export async function collectModels(
  page: (next: string | undefined) => Promise<ModelPage>,
  read: (raw: JsonObject) => ModelInfo | undefined,
): Promise<readonly ModelInfo[]> {
  const found = new Map<string, ModelInfo>();
  let next: string | undefined;
  for (let count = 0; count < MAX_PAGES; count += 1) {
    const { entries, next: following } = await page(next);
    for (const raw of Array.isArray(entries) ? entries : []) {
      const entry = asObject(raw);
      const model = entry === undefined ? undefined : read(entry);
      if (model !== undefined && !found.has(model.id) && found.size < MAX_MODELS) found.set(model.id, model);
    }
    if (following === undefined || following === next) break;
    next = following;
  }
  return [...found.values()];
}

/** A positive whole number of tokens, or undefined. */
export function asLimit(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

/** The entry with what is known. A name that only repeats the id is none. */
export function modelInfo(
  id: string,
  name: string | undefined,
  contextWindow: number | undefined,
  maxOutputTokens: number | undefined,
): ModelInfo {
  return {
    id,
    ...(name === undefined || name === id ? {} : { name }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
  };
}
