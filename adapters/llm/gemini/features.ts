import type { ModelRequest } from '../../../ports/llm.ts';
import type { Failure } from '../wire/failure.ts';
import type { Features, Lesson } from '../wire/model-call.ts';

/** What one model takes. */
export interface GeminiFeatures extends Features {
  /** Whether a thinking level is sent. */
  readonly thinking: boolean;
  /** Whether calls that have no signature get the one that stands for "made elsewhere". */
  readonly placeholder: boolean;
  readonly temperature: boolean;
}

/** From the third generation on calls carry signatures and levels have names. */
export function isThirdGeneration(model: string): boolean {
  return /gemini-(?:[3-9]|\d{2})/.test(model);
}

export function initialFeatures(model: string): GeminiFeatures {
  return { stream: true, thinking: true, placeholder: isThirdGeneration(model), temperature: true };
}

/** What to send differently after a refusal, or undefined when it names nothing that can change. */
export function learnFrom({ text }: Failure, features: GeminiFeatures, request: ModelRequest): Lesson<GeminiFeatures> | undefined {
  if (/thought_?signature/i.test(text)) {
    const notice = features.placeholder
      ? 'the model does not take calls with a placeholder for a signature; it is left out from now on'
      : 'the model wants a signature with every call; calls made elsewhere get a placeholder';
    return { about: 'placeholder', notice, features: { ...features, placeholder: !features.placeholder } };
  }
  if (/thinking_?(?:config|level|budget)|thinking is not|does not support thinking|include_?thoughts/i.test(text)) {
    const asked = features.thinking && request.thinking !== undefined;
    const notice = 'the model cannot be told how much to think; the level is no longer sent';
    return asked ? { about: 'thinking', notice, features: { ...features, thinking: false } } : undefined;
  }
  if (/temperature/i.test(text) && features.temperature && request.temperature !== undefined) {
    const notice = 'the model does not take this temperature; it is no longer sent';
    return { about: 'temperature', notice, features: { ...features, temperature: false } };
  }
  return undefined;
}
