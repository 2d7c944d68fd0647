import { extractPlan } from '../../core/plan/extract.ts';
import { foldJournal } from '../../core/transcript/fold.ts';
import { hasCode } from '../../ports/errors.ts';
import type { JournalRecord, SessionHeader, SessionWriter } from '../../ports/session.ts';
import { type Base, messageOf } from './base.ts';
import { archivedId, belongsTo, type Place, sessionIdOf } from './rooms.ts';

const OPEN_WAIT_MS = 3_000;
const MAX_SEARCHED = 10_000;
const MAX_SAME_SECOND = 100;
/** Messages from the end among which a delivery that may be a repeat is looked for. */
const LOOKED_BACK = 40;

/** Opens the session of a place, or begins it. */
export async function openSession(
  { store }: Pick<Base, 'store'>,
  place: Place,
  facts: { readonly provider: string; readonly model: string; readonly workspace: string },
  signal: AbortSignal,
): Promise<SessionWriter> {
  const id = sessionIdOf(place);
  const { provider, model, workspace } = facts;
  try {
    const session = await store.sessions.open(id, { waitMs: OPEN_WAIT_MS }, signal);
    await session.update({ provider, model });
    return session;
  } catch (error) {
    if (!hasCode(error, 'session_not_found')) throw error;
    return store.sessions.create({ id, title: '', provider, model, workspace, listed: true, externalRefs: [] });
  }
}

/** The session of a place as it stands; undefined where there is none. */
export async function readSession({ store }: Pick<Base, 'store'>, place: Place) {
  try {
    return await store.sessions.read(sessionIdOf(place));
  } catch (error) {
    if (hasCode(error, 'session_not_found')) return undefined;
    throw error;
  }
}

/** Puts the session of a place away under a name with date and time; undefined where there is none. Rejects with `session_busy`. */
export async function archiveSession({ store, clock }: Pick<Base, 'store' | 'clock'>, place: Place): Promise<string | undefined> {
  for (let number = 1; ; number += 1) {
    const id = archivedId(place, clock.now(), number);
    try {
      await store.renameSession(sessionIdOf(place), id);
      return id;
    } catch (error) {
      if (hasCode(error, 'session_not_found')) return undefined;
      if (!hasCode(error, 'session_exists') || number === MAX_SAME_SECOND) throw error;
    }
  }
}

/** Sessions of a place, the one in use among them, newest first. */
export async function sessionsOf({ store }: Pick<Base, 'store'>, place: Place): Promise<readonly SessionHeader[]> {
  const all = await store.sessions.find({ limit: MAX_SEARCHED });
  return all.filter(({ id }) => belongsTo(id, place));
}

/** Makes an archived session of the place the one in use; that one is put away. False: it is in use already. */
export async function resumeSession(base: Pick<Base, 'store' | 'clock'>, place: Place, id: string): Promise<boolean> {
  if (id === sessionIdOf(place)) return false;
  await archiveSession(base, place);
  await base.store.renameSession(id, sessionIdOf(place));
  return true;
}

/** The plan of a session as every surface shows it. */
export function planViewOf(records: Parameters<typeof foldJournal>[0]) {
  const content = foldJournal(records).slots.get('plan');
  return extractPlan(content === undefined ? [] : [{ role: 'system', content }]);
}

/**
 * Adds what a scheduled task had to say to the conversation of a chat that has one, as a turn of its own; behind a turn that
 * has no answer yet it is part of that answer. `maybeRepeat`: left out where it is there already. False: the session is in use.
 */
export async function appendDelivered(
  base: Pick<Base, 'store' | 'ids' | 'mask' | 'log'>,
  place: Place,
  delivered: { readonly label: string; readonly text: string; readonly maybeRepeat: boolean },
  signal: AbortSignal,
): Promise<boolean> {
  let session: SessionWriter;
  try {
    session = await base.store.sessions.open(sessionIdOf(place), { waitMs: 0 }, signal);
  } catch (error) {
    if (hasCode(error, 'session_not_found')) return true;
    if (hasCode(error, 'session_busy')) return false;
    throw error;
  }
  try {
    const { entries } = foldJournal(session.records);
    const label = base.mask(delivered.label);
    const text = base.mask(delivered.text);
    const messages = entries.map(({ message }) => message).filter(({ role }) => role !== 'system');
    const isThere = messages.slice(-LOOKED_BACK).some(({ role, content }) => role === 'assistant' && content.endsWith(text));
    if (delivered.maybeRepeat && isThere) return true;
    const run = base.ids.hex(16);
    const asMessage = (message: Extract<JournalRecord, { kind: 'message' }>['message']): JournalRecord => ({
      kind: 'message',
      run,
      iteration: 0,
      message,
    });
    const endsOnUser = messages.at(-1)?.role === 'user';
    const turn: JournalRecord[] = endsOnUser
      ? [asMessage({ role: 'assistant', content: `${label}\n\n${text}` })]
      : [asMessage({ role: 'user', content: label }), asMessage({ role: 'assistant', content: text })];
    await session.append(turn);
    return true;
  } catch (error) {
    base.log('warning', `what was delivered is not in session ${sessionIdOf(place)}: ${messageOf(error)}`);
    return true;
  } finally {
    await session.close();
  }
}
