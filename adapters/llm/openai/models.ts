import type { ModelInfo, ModelLimits } from '../../../ports/llm.ts';
import type { Dialect } from '../dialects.ts';
import type { JsonObject } from '../json-reading.ts';
import { asObject, asText } from '../json-reading.ts';
import { contextWindowOf } from '../model-table.ts';
import type { Endpoint } from '../wire/endpoint.ts';
import { asLimit, collectModels, modelInfo } from '../wire/model-list.ts';

/** What the built-in table knows. */
export function limitsOf(model: string): ModelLimits {
  const contextWindow = contextWindowOf(model);
  return contextWindow === undefined ? {} : { contextWindow };
}

/** `GET <base_url>/models`. Services that tell a window call it by various names. */
export async function listModels(endpoint: Endpoint, { windowPath }: Dialect, signal: AbortSignal): Promise<readonly ModelInfo[]> {
  const listed = await collectModels(async () => {
    const body = await endpoint.getJson(`${endpoint.options.baseUrl}/models`, signal);
    return { entries: body.data ?? body.models, next: undefined };
  }, readModel);
  if (windowPath === undefined || listed.length !== 1) return listed;
  const contextWindow = await runningWindow(endpoint, windowPath, signal);
  return contextWindow === undefined ? listed : listed.map((model) => ({ ...model, contextWindow }));
}

function readModel(raw: JsonObject): ModelInfo | undefined {
  const id = asText(raw.id) ?? asText(raw.name);
  if (id === undefined) return undefined;
  const meta = asObject(raw.meta);
  const top = asObject(raw.top_provider);
  const windows = [raw.context_length, raw.context_window, raw.max_model_len, raw.max_context_length, meta?.n_ctx, meta?.n_ctx_train];
  const outputs = [raw.max_output_tokens, raw.max_completion_tokens, top?.max_completion_tokens];
  return modelInfo(id, asText(raw.name), windows.map(asLimit).find(Boolean), outputs.map(asLimit).find(Boolean));
}

/** The window that a server was started with, which may be smaller than the model's own. */
async function runningWindow(endpoint: Endpoint, path: string, signal: AbortSignal): Promise<number | undefined> {
  try {
    const body = await endpoint.getJson(`${new URL(endpoint.options.baseUrl).origin}${path}`, signal);
    return asLimit(asObject(body.default_generation_settings)?.n_ctx) ?? asLimit(body.n_ctx);
  } catch (error) {
    // The list is there; a server that keeps this page to itself tells less.
    if (signal.aborted) throw error;
    return undefined;
  }
}
