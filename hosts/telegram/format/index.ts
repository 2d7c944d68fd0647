import type { ChatText } from '../../../ports/chat-message.ts';
import { chunked } from './chunks.ts';
import { toChatText } from './markdown.ts';

/** Markdown as messages of at most `maxUnits` UTF-16 units each. Never throws. */
export function formatMarkdown(markdown: string, maxUnits: number): readonly ChatText[] {
  return chunked(toChatText(markdown), maxUnits);
}
