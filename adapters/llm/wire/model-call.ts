import type { Clock } from '../../../ports/clock.ts';
import type { HttpResponse } from '../../../ports/http.ts';
import type { ModelEvent, ModelRequest } from '../../../ports/llm.ts';
import type { Endpoint, PostRequest } from './endpoint.ts';
import type { Failure } from './failure.ts';
import { toProviderError } from './failure.ts';
import type { ReplyContext } from './reply-reader.ts';

/** What a service turned out to understand. */
export interface Features {
  readonly stream: boolean;
}

/** A change that a refused request teaches, and what the operator is told about it. */
export interface Lesson<F extends Features> {
  readonly about: string;
  readonly features: F;
  readonly notice: string;
}

/** One wire format, as far as a call needs it. */
export interface WireFormat<F extends Features> {
  encode(request: ModelRequest, features: F): PostRequest;
  read(response: HttpResponse, request: ModelRequest, context: ReplyContext): AsyncIterable<ModelEvent>;
  /** What to send differently after a refusal, or undefined when it names nothing that can change. */
  learn(failure: Failure, features: F, request: ModelRequest): Lesson<F> | undefined;
}

/** Where what was learned is kept: for the whole service, or for each of its models. */
export interface FeatureMemory<F extends Features> {
  get(model: string): F;
  set(model: string, features: F): void;
}

const MAX_MODELS = 64;

/** What one model refuses another one may take; the oldest of more than 64 models is forgotten. */
export function createModelMemory<F extends Features>(initial: (model: string) => F): FeatureMemory<F> {
  const known = new Map<string, F>();
  return {
    get: (model) => known.get(model) ?? initial(model),
    set(model, features) {
      known.delete(model);
      known.set(model, features);
      const [oldest] = known.keys();
      if (known.size > MAX_MODELS && oldest !== undefined) known.delete(oldest);
    },
  };
}

/** The service takes the same of every model. */
export function createServiceMemory<F extends Features>(initial: F): FeatureMemory<F> {
  let features = initial;
  return {
    get: () => features,
    set: (_model, learned) => {
      features = learned;
    },
  };
}

export interface CallParts<F extends Features> {
  readonly endpoint: Endpoint;
  readonly clock: Clock;
  readonly format: WireFormat<F>;
  readonly memory: FeatureMemory<F>;
}

/** One model call. A refusal that teaches something is answered once with what was learned, and remembered. */
export async function* callModel<F extends Features>(
  { endpoint, clock, format, memory }: CallParts<F>,
  request: ModelRequest,
  signal: AbortSignal,
): AsyncGenerator<ModelEvent> {
  const { model } = request;
  const { id, maxBytes } = endpoint.options;
  const source = endpoint.source(model);
  const learned = new Set<string>();
  for (;;) {
    const features = memory.get(model);
    const response = await endpoint.post(format.encode(request, features), source, signal);
    if (response.status >= 200 && response.status < 300) {
      const onBuffered = (): string | undefined => {
        if (!request.stream || !features.stream) return undefined;
        memory.set(model, { ...features, stream: false });
        return `${id}: the service does not stream; answers come in one piece from now on`;
      };
      yield* format.read(response, request, { clock, source, maxBytes, hideKey: endpoint.hideKey, onBuffered });
      return;
    }
    const failure = await endpoint.failureOf(response);
    const refused = failure.status === 400 || failure.status === 422;
    const lesson = refused ? format.learn(failure, features, request) : undefined;
    if (lesson === undefined || learned.has(lesson.about)) throw toProviderError(failure, source);
    learned.add(lesson.about);
    memory.set(model, lesson.features);
    yield { type: 'notice', text: `${id}: ${lesson.notice}` };
  }
}
