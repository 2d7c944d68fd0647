import type { ModelRequest } from '../../../ports/llm.ts';
import type { Failure } from '../wire/failure.ts';
import type { Features, Lesson } from '../wire/model-call.ts';
import type { AnthropicOptions } from './options.ts';

/** What one model takes. Starts from its version and only ever loses or changes things. */
export interface MessagesFeatures extends Features {
  /** `budget` in tokens, or `adaptive` with an effort. */
  readonly thinking: 'budget' | 'adaptive';
  /** Whether a wish for no thinking is written down; models that do not think by themselves may refuse it. */
  readonly sendDisabled: boolean;
  /** Whether adaptive thinking is asked to be shown. */
  readonly display: boolean;
  readonly temperature: boolean;
  readonly replay: boolean;
  readonly cacheMarkers: boolean;
  /** Longest answer that the model turned out to give; undefined until it refused a longer one. */
  readonly maxOutput: number | undefined;
}

/** `claude-<family>-<major>[-<minor>]`; a date is no minor version. Undefined for other names. */
function versionOf(model: string): number | undefined {
  const found = /claude-[a-z]+-(\d{1,2})(?:-(\d{1,2}))?(?!\d)/.exec(model);
  return found === null ? undefined : Number(found[1]) + Number(found[2] ?? 0) / 100;
}

/** From 4.7 on there is no budget and no temperature. */
const ADAPTIVE_SINCE = 4.07;

export function initialFeatures(model: string, { promptCaching, replay }: AnthropicOptions): MessagesFeatures {
  const isAdaptive = (versionOf(model) ?? 0) >= ADAPTIVE_SINCE;
  return {
    stream: true,
    thinking: isAdaptive ? 'adaptive' : 'budget',
    sendDisabled: !isAdaptive,
    display: true,
    temperature: !isAdaptive,
    replay,
    cacheMarkers: promptCaching,
    maxOutput: undefined,
  };
}

interface Rule {
  readonly about: keyof MessagesFeatures;
  readonly pattern: RegExp;
  readonly notice: string;
  change(features: MessagesFeatures, request: ModelRequest, said: RegExpExecArray): Partial<MessagesFeatures> | undefined;
}

const REFUSED = /not support|unsupported|not allowed|not permitted|unexpected|extra|invalid|unknown|unrecognized|must be/i;

/** In order: the first one whose words and change fit is the lesson. */
const RULES: readonly Rule[] = [
  {
    about: 'maxOutput',
    pattern: /max_tokens: \d+ > (\d+)/i,
    notice: 'the model gives shorter answers than was asked for; the limit is kept from now on',
    change: (_features, _request, said) => ({ maxOutput: Number(said[1]) }),
  },
  {
    about: 'sendDisabled',
    pattern: /thinking\.type\W{0,3}(?:\.|:)?\s*"?disabled|disabled.*not support/i,
    notice: 'the model cannot be told not to think; the wish is no longer sent',
    change: ({ sendDisabled }, { thinking }) => (sendDisabled && thinking === 'disabled' ? { sendDisabled: false } : undefined),
  },
  {
    about: 'display',
    pattern: /thinking\.(?:adaptive\.)?display|\bdisplay\b/i,
    notice: 'the service does not know how to show thinking; it is no longer asked to',
    change: ({ display, thinking }) => (display && thinking === 'adaptive' ? { display: false } : undefined),
  },
  {
    about: 'replay',
    pattern: /signature|redacted_thinking|thinking.{0,40}blocks?\b|content\.\d+\.thinking/i,
    notice: 'the service does not take the earlier thinking back; it is left out from now on',
    change: ({ replay }) => (replay ? { replay: false } : undefined),
  },
  {
    about: 'thinking',
    pattern: /thinking\.type|budget_tokens|output_config|\badaptive\b|\beffort\b/i,
    notice: 'the model is asked to think in another way from now on',
    change: ({ thinking }, request) => {
      if (request.thinking === undefined || request.thinking === 'disabled') return undefined;
      return { thinking: thinking === 'budget' ? 'adaptive' : 'budget' };
    },
  },
  {
    about: 'temperature',
    pattern: /temperature/i,
    notice: 'the model does not take a temperature; it is no longer sent',
    change: ({ temperature }, request) => (temperature && request.temperature !== undefined ? { temperature: false } : undefined),
  },
  {
    about: 'cacheMarkers',
    pattern: /cache_control/i,
    notice: 'the service does not know cache markers; they are no longer sent',
    change: ({ cacheMarkers }) => (cacheMarkers ? { cacheMarkers: false } : undefined),
  },
  {
    about: 'stream',
    pattern: new RegExp(`\\bstream(?:ing)?\\b.*(?:${REFUSED.source})|(?:${REFUSED.source}).*\\bstream(?:ing)?\\b`, 'is'),
    notice: 'the service does not stream; answers come in one piece from now on',
    change: ({ stream }, request) => (stream && request.stream ? { stream: false } : undefined),
  },
];

/** What to send differently after a refusal, or undefined when it names nothing that can change. */
export function learnFrom(failure: Failure, features: MessagesFeatures, request: ModelRequest): Lesson<MessagesFeatures> | undefined {
  for (const { about, pattern, notice, change } of RULES) {
    const said = pattern.exec(failure.text);
    const changed = said === null ? undefined : change(features, request, said);
    if (changed !== undefined) return { about, notice, features: { ...features, ...changed } };
  }
  return undefined;
}
