import type { ChatEntity, ChatEntityType, ChatText } from '../../../ports/chat-message.ts';

export type EntityDetails = Pick<ChatEntity, 'url' | 'language'>;

/** Grows a text with entities. Offsets count UTF-16 units. */
export interface TextBuilder {
  readonly length: number;
  add(text: string): void;
  /** What `write` adds becomes an entity. */
  within(type: ChatEntityType, write: () => void, details?: EntityDetails): void;
  /** Takes what was added from `length` on back out, entities too, and returns its text. */
  cut(length: number): string;
  done(): ChatText;
}

export function createBuilder(): TextBuilder {
  let text = '';
  let entities: ChatEntity[] = [];
  return {
    get length() {
      return text.length;
    },
    add(more) {
      text += more;
    },
    within(type, write, details = {}) {
      const offset = text.length;
      // Outer ones come first.
      const at = entities.length;
      write();
      if (text.length > offset) entities.splice(at, 0, { type, offset, length: text.length - offset, ...details });
    },
    cut(length) {
      const gone = text.slice(length);
      text = text.slice(0, length);
      entities = entities.filter(({ offset }) => offset < length);
      return gone;
    },
    done: () => ({ text, entities: untangled(entities) }),
  };
}

const isCode = ({ type }: ChatEntity): boolean => type === 'code' || type === 'pre';
const MAY_BE_SPLIT: ReadonlySet<ChatEntityType> = new Set(['bold', 'italic', 'underline', 'strikethrough', 'spoiler']);

/** Code bears no style: styles end before it and go on after it. */
function untangled(entities: readonly ChatEntity[]): readonly ChatEntity[] {
  const codes = entities.filter(isCode).sort((one, other) => one.offset - other.offset);
  if (codes.length === 0) return entities;
  return entities.flatMap((entity) => (MAY_BE_SPLIT.has(entity.type) ? around(entity, codes) : [entity]));
}

function around(entity: ChatEntity, codes: readonly ChatEntity[]): ChatEntity[] {
  const end = entity.offset + entity.length;
  const pieces: ChatEntity[] = [];
  let from = entity.offset;
  for (const { offset, length } of codes) {
    if (offset >= end || offset + length <= from) continue;
    if (offset > from) pieces.push({ ...entity, offset: from, length: offset - from });
    from = offset + length;
  }
  if (from < end) pieces.push({ ...entity, offset: from, length: end - from });
  return pieces;
}
