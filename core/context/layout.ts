/** What of a transcript may go, and what stays whatever happens. */
import { estimateMessage } from '../budget/estimate.ts';
import type { TranscriptEntry } from '../transcript/fold.ts';

/** An assistant message with all its results, or one message alone: goes as a whole or not at all. */
export interface Group {
  readonly index: number;
  readonly count: number;
  readonly tokens: number;
  /** An assistant message with tool calls and their results. */
  readonly calls: boolean;
}

export interface Layout {
  /** What may be dropped, oldest first. */
  readonly groups: readonly Group[];
  /** Where the newest turn begins: the last assistant message, or the newest user message when nothing answered it yet. */
  readonly newestTurn: number;
}

function groupAt(entries: readonly TranscriptEntry[], index: number): Group {
  let end = index + 1;
  while (entries[end]?.message.role === 'tool') end += 1;
  const tokens = entries.slice(index, end).reduce((sum, entry) => sum + estimateMessage(entry.message), 0);
  return { index, count: end - index, tokens, calls: end - index > 1 };
}

function leadingSystem(entries: readonly TranscriptEntry[]): number {
  const end = entries.findIndex(({ message }) => message.role !== 'system');
  return end === -1 ? entries.length : end;
}

/**
 * Protected are the leading system messages, every slot (memory, digest, plan, warning), the first
 * user message, the newest one, and the newest turn. Linear in the number of messages that are shown.
 */
export function layoutOf(entries: readonly TranscriptEntry[]): Layout {
  const firstUser = entries.findIndex(({ message }) => message.role === 'user');
  const newestUser = entries.findLastIndex(({ message }) => message.role === 'user');
  const lastAssistant = entries.findLastIndex(({ message }) => message.role === 'assistant');
  const newestTurn = Math.max(newestUser, lastAssistant);
  const groups: Group[] = [];
  for (let at = leadingSystem(entries); at < newestTurn; ) {
    const group = groupAt(entries, at);
    const isProtected = at === firstUser || at === newestUser || entries[at]?.seq === 0;
    if (!isProtected) groups.push(group);
    at += group.count;
  }
  return { groups, newestTurn };
}
