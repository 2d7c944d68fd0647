import { closeSync, constants, openSync, readSync } from 'node:fs';
import { PassThrough, Readable } from 'node:stream';
import { isatty, ReadStream, WriteStream } from 'node:tty';
import type { ApprovalDecision, ApprovalRequest, ApprovalVerdict, Approver } from '../../ports/approval.ts';
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

type Timing = Pick<Clock, 'after'>;

export interface TerminalApproverOptions {
  /** The streams to talk over, or how to get them for each question. */
  readonly terminal: Terminal | (() => Terminal);
  /** Absent: the machine's own time. */
  readonly clock?: Timing;
}

const BY = 'terminal';
/** Before a question with friction, in which nothing that is typed counts. */
const FRICTION_PAUSE_MS = 1500;

const systemTiming: Timing = {
  after(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

/**
 * Asks a person at a terminal. `a` or `approve` approves, `t` or `trust` trusts where that is
 * offered, `?` shows more, and anything else, the end of the input included, denies. With friction
 * the whole word has to be typed, after a pause.
 */
export function createTerminalApprover({ terminal, clock = systemTiming }: TerminalApproverOptions): Approver {
  return oneAtATime(async (request, signal) => {
    const { input, output, close } = typeof terminal === 'function' ? terminal() : terminal;
    const lines = createLineInput(input);
    const limit = within(request.timeoutMs, signal, clock);
    let open = true;
    lines.open();
    try {
      const decision = await Promise.race([ask({ request, lines, output, clock, isOpen: () => open }), limit.reached]);
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
  readonly clock: Timing;
  /** False once nobody waits for the answer any more. */
  readonly isOpen: () => boolean;
}

async function ask({ request, lines, output, clock, isOpen }: Question): Promise<ApprovalDecision> {
  output.write(cardOf(request));
  if (request.friction) {
    await new Promise<void>((resolve) => void clock.after(FRICTION_PAUSE_MS, resolve));
    if (!isOpen()) return 'deny';
    lines.drop();
  }
  for (;;) {
    output.write(questionOf(request));
    const line = await lines.next();
    if ('ended' in line) return 'deny';
    const answer = meaningOf(line.text, request);
    if (answer === 'more') output.write(contextOf(request));
    else if (answer === 'again') output.write('trust is not offered here\n');
    else return answer;
  }
}

function meaningOf(text: string, { allowTrust, friction }: ApprovalRequest): 'approve' | 'trust' | 'deny' | 'more' | 'again' {
  const word = text.trim().toLowerCase();
  if (word === '?') return 'more';
  if (word === 'approve' || (word === 'a' && !friction)) return 'approve';
  if (word !== 'trust' && word !== 't') return 'deny';
  if (!allowTrust) return 'again';
  return friction && word === 't' ? 'deny' : 'trust';
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

/** Reads of what was typed before, at most. */
const MAX_TYPED_READS = 1024;

/** What was typed before a question was shown answers none: it is taken off the terminal, a line that was begun included. */
function forgetTyped(): void {
  const fd = openTty(constants.O_RDWR | constants.O_NONBLOCK);
  if (fd === undefined) return;
  const typed = new ReadStream(fd);
  try {
    // A terminal that edits lines keeps back the one that was begun.
    typed.setRawMode(true);
    const buffer = Buffer.alloc(4096);
    for (let reads = 0; reads < MAX_TYPED_READS && readSync(fd, buffer) > 0; reads += 1);
  } catch {
    // Nothing is there any more.
  } finally {
    typed.setRawMode(false);
    typed.destroy();
  }
}

/** Opened anew for each question, so that nothing reads the terminal in between. Without one, the input has ended already. */
export function controllingTerminal(): Terminal {
  forgetTyped();
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
