import type { Message, ToolCall } from '../../ports/message.ts';

/**
 * The call ids of a conversation. Services pair results with calls by them, and readers of events do
 * the same, so none may come twice; yet some models number their calls anew in every turn.
 */
export interface CallIds {
  /** The calls with `it<iteration>-call<index>` in place of an id that an earlier call has. Remembers them all. */
  distinct(calls: readonly ToolCall[], iteration: number): readonly ToolCall[];
}

/** `messages`: the conversation so far. */
export function createCallIds(messages: readonly Message[]): CallIds {
  const taken = new Set(messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : [])).map(({ id }) => id));

  const free = (wanted: string): string => {
    let id = wanted;
    for (let count = 2; taken.has(id); count += 1) id = `${wanted}-${count}`;
    return id;
  };

  return {
    distinct: (calls, iteration) =>
      calls.map((call, index) => {
        const id = taken.has(call.id) ? free(`it${iteration}-call${index}`) : call.id;
        taken.add(id);
        return id === call.id ? call : { ...call, id };
      }),
  };
}
