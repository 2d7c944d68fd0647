import type { ModelRequest } from '../../../ports/llm.ts';

/** Models that think beside tools only in the Responses API. */
const ALWAYS = /^(?:gpt-5\.6|gpt-6)/;
/** Models that do so when a level is asked for. */
const WITH_LEVEL = /^gpt-5\.[45]/;

/** Whether OpenAI's chat completions cannot serve this request. A request without thinking stays there. */
export function needsResponses({ model, thinking }: Pick<ModelRequest, 'model' | 'thinking'>): boolean {
  if (thinking === 'disabled') return false;
  return ALWAYS.test(model) || (thinking !== undefined && WITH_LEVEL.test(model));
}
