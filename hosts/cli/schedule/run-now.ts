import { createSystemClock } from '../../../adapters/clock/system.ts';
import type { Store } from '../../../adapters/store/index.ts';
import type { Fire } from '../../../ports/schedule.ts';
import { scheduleLog } from '../../schedule/daemon.ts';
import { asEntry } from '../../schedule/deliver/text.ts';
import { openScheduler } from '../../schedule/open.ts';
import { SCHEDULE_POLICIES } from '../../schedule/policy.ts';
import type { Sender } from '../../schedule/scheduler.ts';
import { EXIT, exitCodeOfOutcome } from '../exit-codes.ts';
import { onInterrupt } from '../interrupt.ts';
import { fireJson } from './json.ts';
import { jobNamed, type ScheduleWork } from './work.ts';

const GRACE_MS = 0;

function exitCodeOf({ state, outcome }: Fire): number {
  return state === 'ran' && outcome !== undefined ? exitCodeOfOutcome(outcome) : EXIT.failed;
}

/** `odek schedule run <job>`: runs it here and now, and sends what came of it. Returns the exit code of its outcome. */
export async function runJobNow(work: ScheduleWork, store: Store, idOrName: string): Promise<number> {
  const { context, config, json } = work;
  const { job } = await jobNamed(work, idOrName);
  const print = (text: string): void => void (json ? context.io.stderr : context.io.stdout).write(text);
  // Its answer goes to standard output as it is, so that it can be piped; what the job still had to send is told apart.
  const since = Date.now();
  const stdout: Sender = async (delivery) => print(delivery.dueAt >= since ? `${delivery.text.trimEnd()}\n` : asEntry(delivery));
  const interrupt = onInterrupt();
  const scheduler = await openScheduler({
    surface: 'schedule',
    policy: SCHEDULE_POLICIES.daemon,
    config,
    env: context.env,
    cwd: context.cwd,
    store,
    clock: createSystemClock(),
    log: scheduleLog(context, config),
    print,
    senders: { stdout },
    timers: false,
  });
  try {
    const fire = await scheduler.runNow(job.id, interrupt.signal);
    if (json) work.out(JSON.stringify(fireJson(fire)));
    return exitCodeOf(fire);
  } finally {
    await scheduler.stop(GRACE_MS);
    interrupt.stop();
  }
}
