import { randomBytes } from 'node:crypto';
import { createCronCalendar } from '../../../adapters/cron/croner.ts';
import { openDatabase } from '../../../adapters/store/database.ts';
import { ownIdentity, type ProcessIdentity } from '../../../adapters/store/process-identity.ts';
import { openFires } from '../../../adapters/store/schedule/fires.ts';
import { openJobs } from '../../../adapters/store/schedule/jobs.ts';
import { openSchedulerLeases } from '../../../adapters/store/schedule/leases.ts';
import { openOutbox } from '../../../adapters/store/schedule/outbox.ts';
import { schedulesOf } from '../../../hosts/config/schedules.ts';
import type { SchedulesConfig } from '../../../hosts/config/types.ts';
import { createEngine, type Engine, type EngineSettings, type JobRun } from '../../../hosts/schedule/engine.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { FireEnd } from '../../../ports/schedule.ts';
import { tempPlace } from '../../adapters/store/fixture.ts';
import type { ScheduleParts } from '../../contracts/schedule-store.suite.ts';

export const ANSWER: FireEnd = { state: 'ran', outcome: 'answer', result: 'done', tokens: 10, deliveries: [] };

/** Lets everything that can go on without the clock go on. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
}

export interface EnginePlace {
  /** An engine as a process of its own has it. */
  engine(
    who?: ProcessIdentity,
    run?: (run: JobRun) => Promise<FireEnd>,
    settings?: Partial<EngineSettings>,
  ): Promise<Engine & { readonly parts: ScheduleParts }>;
  /** `<job> <due>` of every run that began, in order. */
  readonly began: readonly string[];
  readonly logged: readonly string[];
  close(): Promise<void>;
}

/** One database on disk under as many engines as a test wants. */
export function enginePlace(clock: Clock): EnginePlace {
  const place = tempPlace();
  const began: string[] = [];
  const logged: string[] = [];
  const open: { close(): void }[] = [];
  return {
    began,
    logged,
    async engine(who = ownIdentity(), run = async () => ANSWER, settings = {}) {
      const db = await openDatabase({ path: place.path, durability: 'process', clock });
      open.push(db);
      const owner = { ...who, token: () => randomBytes(8).toString('hex') };
      const parts: ScheduleParts = {
        jobs: openJobs(db),
        fires: openFires(db, owner, clock),
        leases: openSchedulerLeases(db, owner, clock),
        outbox: openOutbox(db, owner),
      };
      const engine = createEngine(
        {
          ...parts,
          calendar: createCronCalendar(),
          clock,
          log: (level, message) => void logged.push(`${level}: ${message}`),
          async run(given) {
            began.push(`${given.job.name} ${new Date(given.claim.dueAt).toISOString().slice(0, 16)}`);
            await given.started({ sessionId: 's1', runId: 'r1' });
            return run(given);
          },
        },
        { surface: 'schedule', maxConcurrent: 2, dailyTokens: 0, ...settings },
      );
      // `running` is a getter: a spread would freeze it.
      return Object.defineProperties({ parts } as { readonly parts: ScheduleParts }, Object.getOwnPropertyDescriptors(engine)) as Engine & {
        readonly parts: ScheduleParts;
      };
    },
    async close() {
      for (const db of open) db.close();
      place.remove();
    },
  };
}

/** `schedules.*` with every default. */
export function schedulesConfig(changes: Partial<SchedulesConfig>): SchedulesConfig {
  return { ...schedulesOf(new Map()), ...changes };
}
