import type { Message, SystemMessage } from '../../ports/message.ts';
import type { SlotName } from '../../ports/session.ts';
import { estimateMessage } from '../budget/estimate.ts';
import type { FoldedTranscript } from './fold.ts';

/**
 * The live transcript of a run. `messages` is one array that only grows, apart from slots, which are
 * replaced in place; a message object never changes, so what is derived from it may be cached by identity.
 */
export interface Transcript {
  readonly messages: readonly Message[];
  /** Estimated tokens of all messages, kept as they come and go. */
  readonly tokens: number;
  push(message: Message): void;
  /** `undefined` empties the slot. */
  setSlot(name: SlotName, content: string | undefined): void;
  slot(name: SlotName): string | undefined;
}

/** Slots that follow the system prompt, then those that follow the task, each group in this order. */
const AFTER_SYSTEM: readonly SlotName[] = ['plugin_prompt', 'memory'];
const AFTER_TASK: readonly SlotName[] = ['digest', 'plan'];

export function createTranscript(folded?: FoldedTranscript): Transcript {
  const messages: Message[] = folded ? folded.entries.map((entry) => entry.message) : [];
  let tokens = messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  const placed = new Map<SlotName, SystemMessage>();

  const afterLast = (names: readonly SlotName[], start: number): number => {
    let at = start;
    for (const name of names) {
      const message = placed.get(name);
      if (message && messages[at] === message) at += 1;
    }
    return at;
  };

  const place = (name: SlotName): number => {
    if (name === 'warning') return messages.findLastIndex((message) => message.role === 'user');
    const start = messages[0]?.role === 'system' ? 1 : 0;
    if (AFTER_SYSTEM.includes(name)) return afterLast(AFTER_SYSTEM.slice(0, AFTER_SYSTEM.indexOf(name)), start);
    const task = messages.findIndex((message) => message.role === 'user');
    return afterLast(AFTER_TASK.slice(0, AFTER_TASK.indexOf(name)), task === -1 ? messages.length : task + 1);
  };

  const setSlot = (name: SlotName, content: string | undefined): void => {
    const current = placed.get(name);
    if (current?.content === content) return;
    const next: SystemMessage | undefined = content === undefined ? undefined : { role: 'system', content };
    const at = current ? messages.indexOf(current) : Math.max(0, place(name));
    tokens += (next ? estimateMessage(next) : 0) - (current ? estimateMessage(current) : 0);
    messages.splice(at, current ? 1 : 0, ...(next ? [next] : []));
    if (next) placed.set(name, next);
    else placed.delete(name);
  };

  for (const [name, content] of folded?.slots ?? []) setSlot(name, content);

  return {
    messages,
    get tokens() {
      return tokens;
    },
    push: (message) => {
      tokens += estimateMessage(message);
      messages.push(message);
    },
    setSlot,
    slot: (name) => placed.get(name)?.content,
  };
}
