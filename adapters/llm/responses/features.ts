import type { ModelRequest } from '../../../ports/llm.ts';
import type { Failure } from '../wire/failure.ts';
import type { Features, Lesson } from '../wire/model-call.ts';

/** What one model takes. Starts full and only ever loses things. */
export interface ResponsesFeatures extends Features {
  readonly reasoning: boolean;
  readonly summary: boolean;
  readonly encrypted: boolean;
  readonly replay: boolean;
  readonly temperature: boolean;
}

/** Models of this API that think take no temperature, which is one refused request less. */
const THINKS = /^(?:gpt-[5-9]|o\d)/;

export function initialFeatures(model: string, replay: boolean): ResponsesFeatures {
  return { stream: true, reasoning: true, summary: true, encrypted: replay, replay, temperature: !THINKS.test(model) };
}

interface Rule {
  readonly about: keyof ResponsesFeatures;
  readonly pattern: RegExp;
  readonly notice: string;
  applies?(request: ModelRequest): boolean;
}

/** In order: the first one whose words fit and that has something left to lose is the lesson. */
const RULES: readonly Rule[] = [
  {
    about: 'summary',
    pattern: /reasoning\.?summary|generate reasoning summaries/i,
    notice: 'the service shows no summaries of reasoning; they are no longer asked for',
  },
  {
    about: 'replay',
    pattern: /encrypted content|could not be (?:verified|decrypted)|reasoning' item|item of type 'reasoning'/i,
    notice: 'the service does not take the earlier reasoning back; it is left out from now on',
  },
  {
    about: 'encrypted',
    pattern: /encrypted_content|'include|\binclude\b/i,
    notice: 'the service does not hand out its reasoning; it is no longer asked for',
  },
  {
    about: 'reasoning',
    pattern: /reasoning/i,
    notice: 'the model cannot be told how much to think; the level is no longer sent',
  },
  {
    about: 'temperature',
    pattern: /temperature/i,
    notice: 'the model does not take a temperature; it is no longer sent',
    applies: ({ temperature }) => temperature !== undefined,
  },
  {
    about: 'stream',
    pattern: /\bstream(?:ing)?\b/i,
    notice: 'the service does not stream; answers come in one piece from now on',
    applies: ({ stream }) => stream,
  },
];

/** What to send differently after a refusal, or undefined when it names nothing that can change. */
export function learnFrom({ text }: Failure, features: ResponsesFeatures, request: ModelRequest): Lesson<ResponsesFeatures> | undefined {
  for (const { about, pattern, notice, applies } of RULES) {
    if (!features[about] || !pattern.test(text) || applies?.(request) === false) continue;
    return { about, notice, features: { ...features, [about]: false } };
  }
  return undefined;
}
