import type { Message, SystemMessage } from '../../ports/message.ts';
import type { SlotName } from '../../ports/session.ts';
import { estimateMessage } from '../budget/estimate.ts';
import type { FoldedTranscript, TranscriptEntry } from './fold.ts';

/**
 * The live transcript of a run: what the next request sends. A message object never changes, so what
 * is derived from it may be cached by identity. `messages` and `entries` run in parallel.
 */
export interface Transcript {
  readonly messages: readonly Message[];
  /** Each message with the journal record it comes from; 0 for a slot. */
  readonly entries: readonly TranscriptEntry[];
  /** Estimated tokens of all messages, kept as they come and go. */
  readonly tokens: number;
  /** `seq` is the number of the message's journal record. */
  push(message: Message, seq: number): void;
  /** `undefined` empties the slot. The caller journals it. */
  setSlot(name: SlotName, content: string | undefined): void;
  slot(name: SlotName): string | undefined;
  /** Where the slot's message sits; -1 when it is empty. */
  slotIndex(name: SlotName): number;
  /** Takes `count` messages out from `index` on. The caller journals it as a `view`. */
  remove(index: number, count: number): void;
  /** Replaces the content of one message that is not a slot. The caller journals it as a `view`. */
  shorten(index: number, content: string): void;
}

/** Slots that follow the system prompt, then those that follow the task, each group in this order. */
const AFTER_SYSTEM: readonly SlotName[] = ['plugin_prompt', 'memory'];
const AFTER_TASK: readonly SlotName[] = ['digest', 'plan'];

export function createTranscript(folded?: FoldedTranscript): Transcript {
  const entries: TranscriptEntry[] = folded ? [...folded.entries] : [];
  const messages: Message[] = entries.map((entry) => entry.message);
  let tokens = messages.reduce((sum, message) => sum + estimateMessage(message), 0);
  const placed = new Map<SlotName, SystemMessage>();

  const splice = (at: number, count: number, ...added: TranscriptEntry[]): void => {
    for (const gone of messages.slice(at, at + count)) tokens -= estimateMessage(gone);
    for (const entry of added) tokens += estimateMessage(entry.message);
    entries.splice(at, count, ...added);
    messages.splice(at, count, ...added.map((entry) => entry.message));
  };

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

  const slotIndex = (name: SlotName): number => {
    const current = placed.get(name);
    return current ? messages.indexOf(current) : -1;
  };

  const setSlot = (name: SlotName, content: string | undefined): void => {
    const current = placed.get(name);
    if (current?.content === content) return;
    const next: SystemMessage | undefined = content === undefined ? undefined : { role: 'system', content };
    const at = current ? messages.indexOf(current) : Math.max(0, place(name));
    splice(at, current ? 1 : 0, ...(next ? [{ seq: 0, message: next }] : []));
    if (next) placed.set(name, next);
    else placed.delete(name);
  };

  const push = (message: Message, seq: number): void => {
    splice(messages.length, 0, { seq, message });
    const warning = message.role === 'user' ? placed.get('warning')?.content : undefined;
    if (warning === undefined) return;
    // It stands before the newest user message, wherever it stood, so that a resume puts it in the same place.
    setSlot('warning', undefined);
    setSlot('warning', warning);
  };

  for (const [name, content] of folded?.slots ?? []) setSlot(name, content);

  return {
    messages,
    entries,
    get tokens() {
      return tokens;
    },
    push,
    setSlot,
    slot: (name) => placed.get(name)?.content,
    slotIndex,
    remove: (index, count) => splice(index, count),
    shorten: (index, content) => {
      const entry = entries[index];
      if (entry) splice(index, 1, { seq: entry.seq, message: { ...entry.message, content } });
    },
  };
}
