import { closeSync, constants, openSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import type { ApprovalDecision, ApprovalRequest, ApprovalVerdict, Approver, DangerClass } from '../../ports/approval.ts';
import type { Clock } from '../../ports/clock.ts';
import { cardOf, contextOf, questionOf } from './card.ts';
import { createLineInput, type LineInput } from './line-input.ts';
import { oneAtATime } from './one-at-a-time.ts';

/** A terminal while one question is open. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Called when the question is answered or given up. */
  close?(): void;
}

type Timing = Pick<Clock, 'monotonic' | 'after'>;

export interface TerminalApproverOptions {
  /** The streams to talk over, or how to get them for each question. */
  readonly terminal: Terminal | (() => Terminal);
  /** Absent: the machine's own time. */
  readonly clock?: Timing;
}

const BY = 'terminal';
/** This many approvals of one class within the window, and the next one has to be typed out, after a pause. */
const FRICTION_COUNT = 3;
const FRICTION_WINDOW_MS = 60_000;
const FRICTION_PAUSE_MS = 1500;

const systemTiming: Timing = {
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Asks a person at a terminal. `a` or `approve` approves, `t` or `trust` trusts where that is
 * offered, `?` shows more, and anything else, the end of the input included, denies.
 */
export function createTerminalApprover({ terminal, clock = systemTiming }: TerminalApproverOptions): Approver {
  const friction = createFriction(clock);
  return oneAtATime(async (request, signal) => {
    const { input, output, close } = typeof terminal === 'function' ? terminal() : terminal;
    const lines = createLineInput(input);
    const limit = within(request.timeoutMs, signal, clock);
    let open = true;
    lines.open();
    try {
      const decision = await Promise.race([ask({ request, lines, output, friction, clock, isOpen: () => open }), limit.reached]);
      if (decision === 'timeout') output.write('\nno answer in time: denied\n');
      return { decision, by: BY } satisfies ApprovalVerdict;
    } finally {
      open = false;
      limit.stop();
      lines.close();
      close?.();
    }
  });
}

/** The approver at the controlling terminal; undefined where there is none. */
export function openTerminal(): Approver | undefined {
  const fd = openTty(constants.O_RDWR);
  if (fd === undefined) return undefined;
  closeSync(fd);
  return createTerminalApprover({ terminal: controllingTerminal });
}

interface Question {
  readonly request: ApprovalRequest;
  readonly lines: LineInput;
  readonly output: NodeJS.WritableStream;
  readonly friction: ReturnType<typeof createFriction>;
  readonly clock: Timing;
  /** False once nobody waits for the answer any more. */
  readonly isOpen: () => boolean;
}

async function ask({ request, lines, output, friction, clock, isOpen }: Question): Promise<ApprovalDecision> {
  output.write(cardOf(request));
  const typed = friction.applies(request);
  if (typed) {
    await new Promise<void>((resolve) => void clock.after(FRICTION_PAUSE_MS, resolve));
    if (!isOpen()) return 'deny';
    lines.drop();
  }
  for (;;) {
    output.write(questionOf(request, typed));
    const line = await lines.next();
    if ('ended' in line) return 'deny';
    const answer = meaningOf(line.text, request, typed);
    if (answer === 'approve' || answer === 'trust') friction.count(request);
    if (answer === 'more') output.write(contextOf(request));
    else if (answer === 'again') output.write('trust is not offered here\n');
    else return answer;
  }
}

function meaningOf(text: string, request: ApprovalRequest, typed: boolean): 'approve' | 'trust' | 'deny' | 'more' | 'again' {
  const word = text.trim().toLowerCase();
  if (word === '?') return 'more';
  if (word === 'approve' || (word === 'a' && !typed)) return 'approve';
  if (word !== 'trust' && word !== 't') return 'deny';
  if (!request.allowTrust) return 'again';
  return typed && word === 't' ? 'deny' : 'trust';
}

/** Remembers approvals by class, so that a person does not wave them through. */
function createFriction(clock: Timing) {
  const approvedAt = new Map<DangerClass, readonly number[]>();
  const recent = (cls: DangerClass) => (approvedAt.get(cls) ?? []).filter((at) => clock.monotonic() - at < FRICTION_WINDOW_MS);
  const classesOf = (request: ApprovalRequest) => new Set(request.items.map((item) => item.class));
  return {
    applies: (request: ApprovalRequest) => [...classesOf(request)].some((cls) => recent(cls).length >= FRICTION_COUNT),
    count(request: ApprovalRequest): void {
      for (const cls of classesOf(request)) approvedAt.set(cls, [...recent(cls), clock.monotonic()].slice(-FRICTION_COUNT));
    },
  };
}

/** Settles when the time is up or the run is cancelled, whichever comes first. */
function within(ms: number, signal: AbortSignal, clock: Timing) {
  const { promise, resolve } = Promise.withResolvers<ApprovalDecision>();
  const stopTimer = clock.after(ms, () => resolve('timeout'));
  const abort = () => resolve('deny');
  signal.addEventListener('abort', abort, { once: true });
  return {
    reached: promise,
    stop(): void {
      stopTimer();
      signal.removeEventListener('abort', abort);
    },
  };
}

function openTty(flags: number): number | undefined {
  try {
    const fd = openSync('/dev/tty', flags | (constants.O_NOCTTY ?? 0));
    if (isatty(fd)) return fd;
    closeSync(fd);
  } catch {
    // The process has no controlling terminal.
  }
  return undefined;
}

/** Opened anew for each question, so that nothing reads the terminal in between. Without one, the input has ended already. */
export function controllingTerminal(): Terminal {
  const readFd = openTty(constants.O_RDWR);
  const writeFd = openTty(constants.O_WRONLY);
  if (readFd === undefined || writeFd === undefined) return { input: Readable.from([]), output: new PassThrough().resume() };
  const input = new ReadStream(readFd);
  const output = new WriteStream(writeFd);
  // A terminal that goes away ends the input, which denies.
  output.on('error', () => {});
  return {
    input,
    output,
    close() {
      input.destroy();
      output.end();
    },
  };
}
