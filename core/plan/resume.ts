import type { Message } from '../../ports/message.ts';
import { isPlanMessage } from './parse.ts';
import type { PlanStore } from './store.ts';

/**
 * Rebuilds the store from a transcript. The newest plan message that parses is kept in its place;
 * every other one is taken out, so that no stale plan keeps its authority. Without one the plan is reset.
 */
export function resumePlan(
  store: PlanStore,
  messages: readonly Message[],
): { readonly restored: boolean; readonly messages: readonly Message[] } {
  const at = messages.findLastIndex((message) => isPlanMessage(message) && store.restore(message.content));
  if (at === -1) store.reset();
  return { restored: at !== -1, messages: messages.filter((message, place) => place === at || !isPlanMessage(message)) };
}
