import type { Clock } from '../../ports/clock.ts';
import { hasCode } from '../../ports/errors.ts';
import type { Delivery, DeliveryEnd, DeliveryOutbox, DeliveryTarget } from '../../ports/schedule.ts';
import { DeliveryFault, type LogLevel, type Sender } from './scheduler.ts';

export interface PumpParts {
  readonly outbox: DeliveryOutbox;
  readonly senders: Readonly<Partial<Record<DeliveryTarget['kind'], Sender>>>;
  /** Whether this process may send results of a kind now. */
  may(kind: DeliveryTarget['kind']): boolean;
  /** The one job whose results this process may send now; undefined: of all. */
  only?(): string | undefined;
  readonly clock: Clock;
  log(level: LogLevel, text: string): void;
}

export interface Pump {
  /** Sends all that is due. One sending at a time of each kind; a call meanwhile asks for one more look. Never rejects. */
  pump(): Promise<void>;
  /** Begins nothing new, waits `graceMs` for what is being sent, then breaks it off and leaves it marked as uncertain. */
  stop(graceMs: number): Promise<void>;
}

/** Attempts for one result; after the last it stays in the outbox as failed. */
export const MAX_ATTEMPTS = 8;
const FIRST_WAIT_MS = 30_000;
const GROWTH = 4;
const MAX_WAIT_MS = 3_600_000;

/** Milliseconds until the next attempt: 30 s, 2 min, 8 min, 32 min, then an hour; longer where the receiver asks for it, within an hour. */
export function waitAfter(attempts: number, asked = 0): number {
  return Math.min(MAX_WAIT_MS, Math.max(asked, FIRST_WAIT_MS * GROWTH ** (attempts - 1)));
}

function endOf(error: unknown, { attempts }: Delivery, now: number): DeliveryEnd {
  const text = error instanceof Error ? error.message : String(error);
  const isFinal = attempts >= MAX_ATTEMPTS || (error instanceof DeliveryFault && !error.retry);
  if (isFinal) return { state: 'failed', error: text };
  const asked = error instanceof DeliveryFault ? error.retryAfterMs : undefined;
  return { state: 'failed', error: text, retryAt: now + waitAfter(attempts, asked) };
}

export function createPump({ outbox, senders, may, only, clock, log }: PumpParts): Pump {
  const stopping = new AbortController();
  const breaking = new AbortController();
  const loops = new Map<DeliveryTarget['kind'], Promise<void>>();
  const again = new Set<DeliveryTarget['kind']>();

  const send = async (sender: Sender, delivery: Delivery): Promise<void> => {
    let end: DeliveryEnd = { state: 'sent' };
    try {
      await sender(delivery, breaking.signal);
    } catch (error) {
      // Nobody knows whether it arrived: the row stays as it is, and the next process sends it marked.
      if (breaking.signal.aborted) return;
      end = endOf(error, delivery, clock.now());
    }
    await outbox.settle(delivery, end, clock.now());
    if (end.state === 'sent') return;
    const next = end.retryAt === undefined ? 'given up; odek schedule deliveries shows it' : 'again later';
    log('warning', `the result of job ${delivery.jobName} did not reach ${delivery.target.kind}: ${end.error} (${next})`);
  };

  const drain = async (kind: DeliveryTarget['kind'], sender: Sender): Promise<void> => {
    do {
      again.delete(kind);
      while (!stopping.signal.aborted && may(kind)) {
        const delivery = await outbox.take([kind], clock.now(), only?.());
        if (delivery === undefined) break;
        await send(sender, delivery);
      }
    } while (again.has(kind) && !stopping.signal.aborted);
  };

  const begin = (kind: DeliveryTarget['kind'], sender: Sender): Promise<void> => {
    const under = loops.get(kind);
    if (under !== undefined) {
      again.add(kind);
      return under;
    }
    const loop = drain(kind, sender)
      .catch((error: unknown) => {
        // Taken over by another process: that one has it now.
        if (!hasCode(error, 'claim_lost'))
          log('error', `results could not be sent: ${error instanceof Error ? error.message : String(error)}`);
      })
      .finally(() => loops.delete(kind));
    loops.set(kind, loop);
    return loop;
  };

  return {
    async pump() {
      const kinds = Object.entries(senders) as [DeliveryTarget['kind'], Sender][];
      if (!stopping.signal.aborted) await Promise.all(kinds.map(([kind, sender]) => begin(kind, sender)));
    },
    async stop(graceMs) {
      stopping.abort();
      const stopTimer = clock.after(graceMs, () => breaking.abort());
      await Promise.all(loops.values());
      stopTimer();
    },
  };
}
