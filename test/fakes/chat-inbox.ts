import type { ChatUpdate } from '../../ports/chat.ts';
import { type ChatInbox, INBOX_LIMITS, type InboxClaim, InboxError } from '../../ports/chat-inbox.ts';

const QUIET_MS = 6 * 86_400_000;

interface Entry {
  readonly seq: number;
  readonly update: ChatUpdate;
  readonly text: string;
  readonly recordedAt: number;
  state: 'received' | 'claimed' | 'handling' | 'interrupted' | 'ended';
  owner: string;
  token: string;
}

/** An inbox in memory that several owners share. `isGone` says whose process is dead. */
export function createFakeInboxes(isGone: (owner: string) => boolean = () => false): (owner: string) => ChatInbox {
  let entries: Entry[] = [];
  let mark: { highest: number; at: number } | undefined;
  let seq = 0;
  let tokens = 0;
  const isQuiet = (now: number): boolean => mark !== undefined && now - mark.at > QUIET_MS;
  const sentAt = (update: ChatUpdate): number =>
    update.kind === 'message' ? (update.message.editedAt ?? update.message.at) : Number.POSITIVE_INFINITY;

  return (owner) => {
    const take = (entry: Entry, state: 'claimed' | 'interrupted'): InboxClaim => {
      tokens += 1;
      Object.assign(entry, { state, owner, token: `t${tokens}` });
      return {
        seq: entry.seq,
        update: entry.update,
        recordedAt: entry.recordedAt,
        interrupted: state === 'interrupted',
        token: entry.token,
      };
    };
    const held = (claim: InboxClaim): Entry => {
      const found = entries.find((each) => each.seq === claim.seq && each.token === claim.token && each.state !== 'ended');
      if (found === undefined) throw new InboxError('inbox_claim_lost', `update number ${claim.seq} is not this process's any more`);
      return found;
    };
    return {
      async record(updates, { now, oldest }) {
        const skipped: ChatUpdate[] = [];
        let recorded = 0;
        for (const update of [...updates].sort((one, other) => one.id - other.id)) {
          const text = JSON.stringify(update);
          if (mark !== undefined && update.id <= mark.highest && !isQuiet(now)) continue;
          if (entries.some((each) => each.update.id === update.id && each.text === text)) continue;
          const isOld = sentAt(update) < oldest;
          seq += 1;
          entries.push({ seq, update, text, recordedAt: now, state: isOld ? 'ended' : 'received', owner: '', token: '' });
          if (isOld) skipped.push(update);
          else recorded += 1;
          mark = { highest: update.id, at: now };
        }
        entries = entries.filter((each) => each.state !== 'ended' || each.seq > seq - INBOX_LIMITS.kept);
        return { recorded, skipped };
      },
      async claim() {
        for (const each of entries) if (each.state === 'claimed' && isGone(each.owner)) each.state = 'received';
        const broken = entries.find((each) => ['handling', 'interrupted'].includes(each.state) && isGone(each.owner));
        if (broken !== undefined) return take(broken, 'interrupted');
        const next = entries.find((each) => each.state === 'received');
        return next === undefined ? undefined : take(next, 'claimed');
      },
      async begin(claim) {
        const entry = held(claim);
        if (entry.state === 'claimed') entry.state = 'handling';
      },
      async finish(claim) {
        held(claim).state = 'ended';
      },
      async stand(now) {
        const open = entries.filter(({ state }) => state !== 'ended');
        const waiting = open.filter(({ state }) => state === 'received').length;
        return { offset: mark === undefined || isQuiet(now) ? 0 : mark.highest + 1, waiting, handling: open.length - waiting };
      },
    };
  };
}
