import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { openDatabase } from '../../../adapters/store/database.ts';
import { ownIdentity, type ProcessIdentity } from '../../../adapters/store/process-identity.ts';
import { openFires } from '../../../adapters/store/schedule/fires.ts';
import { openJobs } from '../../../adapters/store/schedule/jobs.ts';
import { openSchedulerLeases } from '../../../adapters/store/schedule/leases.ts';
import { openOutbox } from '../../../adapters/store/schedule/outbox.ts';
import { NOON, type ScheduleHarness, type ScheduleParts } from '../../contracts/schedule-store.suite.ts';
import { movableClock, tempPlace } from './fixture.ts';

export type Fault = (parts: ScheduleParts) => ScheduleParts;

/** A process that ended: its pid belongs to nobody. */
function deadIdentity(): ProcessIdentity {
  return { pid: spawnSync(process.execPath, ['--version']).pid, start: '' };
}

/** SQLite on disk, shared by three processes; two of them are played by this one under other names. */
export function sqliteSchedules(fault: Fault = (parts) => parts): ScheduleHarness {
  return {
    async place() {
      const place = tempPlace();
      let now = NOON;
      const clock = { ...movableClock(), now: () => now };
      const opened = async (who: ProcessIdentity) => {
        const db = await openDatabase({ path: place.path, durability: 'process', clock });
        const owner = { ...who, token: () => randomBytes(8).toString('hex') };
        const parts = {
          jobs: openJobs(db),
          fires: openFires(db, owner, clock),
          leases: openSchedulerLeases(db, owner, clock),
          outbox: openOutbox(db, owner),
        };
        return { db, parts: fault(parts) };
      };
      const here = await opened(ownIdentity());
      const there = await opened({ pid: process.ppid, start: '' });
      const dead = await opened(deadIdentity());
      return {
        here: here.parts,
        there: there.parts,
        dead: dead.parts,
        at: (time) => {
          now = time;
        },
        async close() {
          for (const { db } of [here, there, dead]) db.close();
          place.remove();
        },
      };
    },
  };
}
