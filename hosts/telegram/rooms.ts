import type { ChatPlace } from '../../ports/chat-message.ts';

/** A chat, or a topic of one, by number. */
export type Place = ChatPlace & { readonly chatId: number };

/** The session of a place: `tg-<chat>`, with `-t<topic>` behind it in a topic. Places and sessions are named alike. */
export function sessionIdOf({ chatId, topicId }: Place): string {
  return `tg-${chatId}${topicId === undefined ? '' : `-t${topicId}`}`;
}

const SESSION = /^tg-(-?\d{1,16})(?:-t(\d{1,16}))?(?=-\d|$)/;

/** The place of a session, archived ones too; undefined where it belongs to no chat. */
export function placeOfSession(id: string): Place | undefined {
  const found = SESSION.exec(id);
  if (found === null) return undefined;
  return { chatId: Number(found[1]), ...(found[2] !== undefined && { topicId: Number(found[2]) }) };
}

/** Whether a session is that of the place, or an archived one of it. A chat does not have those of its topics, nor a topic those of another. */
export function belongsTo(id: string, place: Place): boolean {
  const own = sessionIdOf(place);
  return id === own || new RegExp(`^${own}-\\d{8}-\\d{6}(-\\d+)?$`).test(id);
}

/** The name under which a session is put away. */
export function archivedId(place: Place, now: number, number = 1): string {
  const [date = '', time = ''] = new Date(now).toISOString().split('T');
  const id = `${sessionIdOf(place)}-${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
  return number === 1 ? id : `${id}-${number}`;
}
