import type { ModelRequest } from '../../../ports/llm.ts';
import type { Failure } from '../wire/failure.ts';
import type { Lesson } from '../wire/model-call.ts';
import type { WireFeatures } from './request-body.ts';

interface Rule {
  readonly about: keyof WireFeatures;
  readonly pattern: RegExp;
  readonly notice: string;
  /** Undefined when the rule has nothing left to change. */
  change(features: WireFeatures, request: ModelRequest, failure: Failure): Partial<WireFeatures> | undefined;
}

const REFUSED = 'not support|unsupported|not allowed|not permitted|unknown|unrecognized|unrecognised|extra|unexpected|invalid|must be';

/** In order: a text that names a longer parameter also contains the shorter one. */
const RULES: readonly Rule[] = [
  {
    about: 'streamOptions',
    pattern: /stream_options|include_usage/i,
    notice: 'the service does not know stream_options; token use may have to be estimated',
    change: (features, request) => (request.stream && features.stream && features.streamOptions ? { streamOptions: false } : undefined),
  },
  {
    about: 'includeReasoning',
    pattern: /include_reasoning/i,
    notice: 'the service does not know include_reasoning; it is no longer sent',
    change: (features) => (features.includeReasoning ? { includeReasoning: false } : undefined),
  },
  {
    about: 'reasoningReplay',
    pattern: /reasoning_content|reasoning content|['"`.]reasoning\b/i,
    notice: 'the service has another rule about earlier reasoning; the other rule is used from now on',
    change: otherReasoningRule,
  },
  {
    about: 'maxTokensField',
    pattern: /max_tokens|max_completion_tokens/i,
    notice: 'the service names the output limit differently; the other name is used from now on',
    change: (features, request, failure) => {
      if (request.maxTokens === undefined || !new RegExp(REFUSED, 'i').test(failure.text)) return undefined;
      if (!/max_completion_tokens/i.test(failure.text)) return undefined;
      return { maxTokensField: features.maxTokensField === 'max_tokens' ? 'max_completion_tokens' : 'max_tokens' };
    },
  },
  {
    about: 'temperature',
    pattern: new RegExp(`temperature.*(?:${REFUSED})|(?:${REFUSED}).*temperature`, 'is'),
    notice: 'the model does not take a temperature; it is no longer sent',
    change: (features, request) => (request.temperature !== undefined && features.temperature ? { temperature: false } : undefined),
  },
  {
    about: 'stream',
    pattern: new RegExp(`\\bstream(?:ing)?\\b.*(?:${REFUSED})|(?:${REFUSED}).*\\bstream(?:ing)?\\b`, 'is'),
    notice: 'the service does not stream; answers come in one piece from now on',
    change: (features, request) => (request.stream && features.stream ? { stream: false } : undefined),
  },
];

/** What to send differently after a refusal, or undefined when it names nothing that can change. */
export function learnFrom(failure: Failure, features: WireFeatures, request: ModelRequest): Lesson<WireFeatures> | undefined {
  const evidence = `${failure.label} ${failure.text}`;
  for (const { about, pattern, notice, change } of RULES) {
    const changed = pattern.test(evidence) ? change(features, request, failure) : undefined;
    if (changed !== undefined) return { about, notice, features: { ...features, ...changed } };
  }
  return undefined;
}

/** From sending to not sending and back; a history with gaps is filled before reasoning is given up. */
function otherReasoningRule(features: WireFeatures, request: ModelRequest, failure: Failure): Partial<WireFeatures> {
  if (features.reasoningReplay === 'never') return { reasoningReplay: 'on_tool_calls', fillReasoning: true };
  const hasGap = request.messages.some(
    (message) => message.role === 'assistant' && (message.toolCalls?.length ?? 0) > 0 && message.reasoning === undefined,
  );
  if (hasGap && !features.fillReasoning && /missing|required|must be (?:passed|provided|present|sent)|passed back/i.test(failure.text)) {
    return { fillReasoning: true };
  }
  return { reasoningReplay: 'never', fillReasoning: false };
}
