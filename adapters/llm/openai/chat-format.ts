import type { WireFormat } from '../wire/model-call.ts';
import { readReply } from '../wire/reply-reader.ts';
import { learnFrom } from './learning.ts';
import type { OpenAiOptions } from './options.ts';
import { chatReply } from './reply-mapper.ts';
import type { WireFeatures } from './request-body.ts';
import { createBodyEncoder } from './request-body.ts';

/** Chat completions as a format: what is sent, what comes back, what a refusal teaches. */
export function createChatFormat({ endpoint, dialect, doneWithoutFinish }: OpenAiOptions): WireFormat<WireFeatures> {
  const encoder = createBodyEncoder(endpoint.id, dialect);
  const url = `${endpoint.baseUrl}/chat/completions`;
  return {
    encode: (request, features) => ({ url, body: encoder.encode(request, features), streams: request.stream && features.stream }),
    read: (response, request, context) => readReply(response, chatReply({ doneWithoutFinish, request }), context),
    learn: learnFrom,
  };
}
