import { EXIT } from '../exit-codes.ts';
import { type SessionCommand, UsageError } from './deps.ts';

const DAY_MS = 86_400_000;
const PAGE = 500;

/** `session delete <id>` */
export const deleteSession: SessionCommand = async (args, { store, out }) => {
  const [id] = args;
  if (id === undefined || args.length > 1) throw new UsageError('session delete takes one id');
  if ((await store.remove([id])) === 0) {
    // Opening tells why it stayed: it does not exist, or somebody holds it.
    const writer = await store.open(id, { waitMs: 0 }, new AbortController().signal);
    await writer.close({ discard: true });
  }
  out(`Deleted session ${id}.`);
  return EXIT.ok;
};

/** `session cleanup <days>`: those not touched for so long, ephemeral leftovers too. 0 means all. Held ones stay. */
export const cleanup: SessionCommand = async (args, { store, out, now }) => {
  const [days] = args;
  if (days === undefined || args.length > 1 || !/^\d{1,6}$/.test(days)) {
    const got = days === undefined ? '' : `; got ${JSON.stringify(args.join(' '))}`;
    throw new UsageError(`session cleanup takes a whole number of days, 0 for all sessions${got}`);
  }
  let before = Number(days) === 0 ? Number.MAX_SAFE_INTEGER : now() - Number(days) * DAY_MS;
  let removed = 0;
  for (;;) {
    const page = await store.find({ limit: PAGE, updatedBefore: before, unlisted: true });
    const gone = await store.remove(page.map(({ id }) => id));
    removed += gone;
    const oldest = page.at(-1)?.updatedAt;
    if (page.length < PAGE || oldest === undefined) break;
    // Held sessions stay, so the next page begins behind them; several may share the oldest instant.
    before = gone > 0 ? oldest + 1 : Math.min(before - 1, oldest + 1);
  }
  out(`Cleaned up ${removed} session(s) older than ${Number(days)} days.`);
  return EXIT.ok;
};
