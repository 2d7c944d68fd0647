import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openChatInbox } from '../../../adapters/store/chat-inbox.ts';
import { openDatabase } from '../../../adapters/store/database.ts';
import { ownIdentity, type ProcessIdentity } from '../../../adapters/store/process-identity.ts';
import type { ChatInboxHarness } from '../../contracts/chat-inbox.suite.ts';
import { movableClock, tempPlace } from './fixture.ts';

/** SQLite on disk, shared by three processes; two of them are played by this one under other names. */
export const sqliteInboxes: ChatInboxHarness = {
  async place() {
    const place = tempPlace();
    const opened = async (who: ProcessIdentity) => {
      const db = await openDatabase({ path: place.path, durability: 'process', clock: movableClock() });
      return { db, inbox: openChatInbox(db, { ...who, token: () => randomBytes(8).toString('hex') }, 'bot') };
    };
    const here = await opened(ownIdentity());
    const there = await opened({ pid: process.ppid, start: '' });
    const dead = await opened({ pid: spawnSync(process.execPath, ['--version']).pid, start: '' });
    return {
      here: here.inbox,
      there: there.inbox,
      dead: dead.inbox,
      async close() {
        for (const { db } of [here, there, dead]) db.close();
        place.remove();
      },
    };
  },
};
