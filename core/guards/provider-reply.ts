import type { ModelEvent } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';

type Response = Extract<ModelEvent, { type: 'response' }>;

/** Watches one reply and refuses what the contract of `LlmProvider` excludes. */
export interface ReplyCheck {
  /** The events to pass on for `event`. Throws `ProviderError`. */
  take(event: ModelEvent): readonly ModelEvent[];
  /** The failure of a reply that ended without a response. */
  missingResponse(): ProviderError;
}

/** `maxCharacters` bounds the text, reasoning and arguments of the reply, each unit counted once. */
export function createReplyCheck(name: string, maxCharacters: number): ReplyCheck {
  let text = '';
  let reasoning = '';

  const invalid = (what: string): ProviderError => new ProviderError('invalid_response', `${name}: ${what}`);
  const checkSize = (size: number): void => {
    if (size <= maxCharacters) return;
    throw new ProviderError('response_too_large', `${name}: the reply is longer than ${maxCharacters} characters`, {
      value: size,
      limit: maxCharacters,
    });
  };
  const checkCalls = ({ message }: Response): void => {
    const ids = new Set<string>();
    for (const call of message.toolCalls ?? []) {
      if (typeof call.id !== 'string' || call.id === '' || ids.has(call.id))
        throw invalid(`a tool call's id is empty or used twice: "${call.id}"`);
      if (typeof call.name !== 'string' || call.name === '') throw invalid('a tool call has no name');
      if (typeof call.arguments !== 'string') throw invalid(`the arguments of ${call.name} are not text`);
      ids.add(call.id);
    }
  };
  const checkResponse = (response: Response): readonly ModelEvent[] => {
    const { message } = response;
    if (typeof message?.content !== 'string') throw invalid('the response has no message with text');
    const calls = message.toolCalls ?? [];
    checkSize(
      message.content.length + (message.reasoning?.length ?? 0) + calls.reduce((sum, call) => sum + (call.arguments?.length ?? 0), 0),
    );
    checkCalls(response);
    return [...rest('reasoning_delta', reasoning, message.reasoning ?? ''), ...rest('text_delta', text, message.content), response];
  };
  /** What the deltas left out is delivered before the response; what they invented is an error. */
  const rest = (type: 'text_delta' | 'reasoning_delta', told: string, whole: string): readonly ModelEvent[] => {
    if (told === whole) return [];
    if (!whole.startsWith(told)) throw invalid(`the response differs from what was streamed before it (${type})`);
    return [{ type, text: whole.slice(told.length) }];
  };
  return {
    take(event) {
      switch (event?.type) {
        case 'text_delta':
          text += event.text;
          checkSize(text.length + reasoning.length);
          return [event];
        case 'reasoning_delta':
          reasoning += event.text;
          checkSize(text.length + reasoning.length);
          return [event];
        case 'keep_alive':
        case 'notice':
          return [event];
        case 'response':
          return checkResponse(event);
        default:
          throw invalid('the adapter sent an event of unknown type');
      }
    },
    missingResponse: () =>
      new ProviderError('stream_incomplete', `${name}: the reply ended before the model had finished`, { retryable: true }),
  };
}
