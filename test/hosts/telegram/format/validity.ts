import { expect } from 'vitest';
import type { ChatText } from '../../../../ports/chat-message.ts';

const splitsPair = (text: string, at: number): boolean =>
  at > 0 && at < text.length && /^[\uD800-\uDBFF][\uDC00-\uDFFF]$/.test(text.slice(at - 1, at + 1));

/** What the service demands of a message. */
export function expectValid({ text, entities }: ChatText, maxUnits: number): void {
  expect(text.length).toBeGreaterThan(0);
  expect(text.length).toBeLessThanOrEqual(maxUnits);
  expect(text.isWellFormed()).toBe(true);
  expect(text.trim()).not.toBe('');
  expect(entities.length).toBeLessThanOrEqual(100);
  const codes = entities.filter(({ type }) => type === 'code' || type === 'pre');
  for (const entity of entities) {
    const { type, offset, length } = entity;
    expect(offset).toBeGreaterThanOrEqual(0);
    expect(length).toBeGreaterThan(0);
    expect(offset + length).toBeLessThanOrEqual(text.length);
    expect(splitsPair(text, offset) || splitsPair(text, offset + length)).toBe(false);
    if (type === 'text_link') expect(entity.url).toMatch(/^(https?|tg|mailto):/i);
    const overlaps = codes.filter((code) => code !== entity && code.offset < offset + length && offset < code.offset + code.length);
    if (type !== 'blockquote') expect(overlaps).toEqual([]);
  }
}

export const withoutSpace = (text: string): string => text.replaceAll(/\s+/g, '');
