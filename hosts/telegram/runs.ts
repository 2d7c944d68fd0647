import type { ChatInbox, InboxClaim } from '../../ports/chat-inbox.ts';
import { hasCode } from '../../ports/errors.ts';
import type { RunEvent } from '../../ports/event.ts';
import type { RunResult } from '../../ports/run.ts';
import { within } from '../schedule/engine.ts';
import type { Agents, RoomAgent, RoomEdges } from './agents.ts';
import { type Base, messageOf } from './base.ts';
import type { DailyBudget } from './budget.ts';
import type { Cards } from './cards.ts';
import type { OpenProgress, Progress, ProgressMode } from './progress.ts';
import type { Questions } from './questions.ts';
import { type Place, sessionIdOf } from './rooms.ts';
import { openSession } from './sessions.ts';
import { interruptedText, statsText, type Tally, tallyOf } from './stats.ts';
import { typing } from './typing.ts';

/** One turn that somebody asked for. */
export interface Task {
  readonly place: Place;
  readonly user: number;
  /** What the model is told. */
  readonly text: string;
  /** As it was written, where content was put around it. */
  readonly original?: string;
  /** The message that asked. */
  readonly replyTo?: number;
  readonly claim: InboxClaim;
  /** It was begun already. */
  readonly isBegun?: boolean;
  /** Does something with the answer before it is sent; resolves to what is said in its place. */
  onAnswer?(answer: string): Promise<string>;
}

/** Runs of all chats: one at a time in each, what comes meanwhile waits. */
export interface Runs {
  /** Begins a turn, or lets it wait and says so. */
  add(task: Task): void;
  /** Cancels the run of a place and what waits behind it; resolves when the run ended, at most a second later. Undefined: nothing runs. */
  stop(place: Place): Promise<string | undefined>;
  isBusy(place: Place): boolean;
  /** Does something when no run of the place is under way; at once where none is. */
  whenIdle(place: Place, work: () => Promise<void>): void;
  modeOf(place: Place): ProgressMode;
  setMode(place: Place, mode: ProgressMode): void;
  readonly running: number;
  /** Begins nothing new, waits `graceMs` for what runs, then cancels it. What waited stays in the inbox. */
  drain(graceMs: number): Promise<void>;
}

export interface RunParts {
  readonly base: Base;
  readonly inbox: ChatInbox;
  readonly agents: Agents;
  readonly cards: Cards;
  readonly questions: Questions;
  readonly budget: DailyBudget;
  readonly openProgress: OpenProgress;
  /** Sends to the person in the middle of a run. */
  sendFor(place: Place, edges: () => RoomEdges): RoomEdges['send'];
  /** Sends an answer, files that it names among it. */
  answer(place: Place, text: string, edges: RoomEdges, signal: AbortSignal): Promise<void>;
}

type Cause = 'stop' | 'time' | 'end';

interface Current {
  readonly task: Task;
  readonly controller: AbortController;
  readonly done: Promise<void>;
  readonly tally: Tally;
  progress?: Progress;
  cause?: Cause;
  /** Its answer is there and only has to be said. */
  isAnswered?: boolean;
}

interface Room {
  readonly place: Place;
  readonly edges: RoomEdges;
  readonly queue: Task[];
  readonly after: (() => Promise<void>)[];
  current?: Current;
  mode?: ProgressMode;
  /** Something is done for the room between two runs. */
  tidying?: Promise<void>;
}

const MAX_QUEUE = 20;
const MAX_ROOMS = 1_000;
const MAX_AFTER = 50;
const STOP_MS = 900;
const CANCEL_MS = 3_000;
/** How long a next turn waits for an answer that the service holds up. */
const ANSWER_WAIT_MS = 60_000;
const QUEUED = '⏳ Working on your previous request — queued.';
const FULL = `⏳ ${MAX_QUEUE} requests wait here already; this one is not taken. /stop ends what runs.`;

export function createRuns(parts: RunParts): Runs {
  const { base, inbox, agents, cards, questions, budget, openProgress } = parts;
  const { talk, clock, log, config } = base;
  const rooms = new Map<string, Room>();
  let draining = false;

  const makeRoom = (place: Place): Room => {
    const userOf = (): number | undefined => room.current?.task.user;
    const room: Room = {
      place,
      queue: [],
      after: [],
      edges: {
        approver: {
          decide: async (request, signal) => {
            const user = userOf();
            return user === undefined ? { decision: 'deny', by: 'nobody' } : cards.approverFor([String(user)]).decide(request, signal);
          },
        },
        clarifier: questions.clarifierFor(place, userOf),
        send: async (message, signal) => {
          const said = await parts.sendFor(place, () => room.edges)(message, signal);
          room.current?.progress?.renew();
          return said;
        },
        onEvent: (event: RunEvent) => {
          room.current?.tally.see(event);
          room.current?.progress?.onEvent(event);
        },
      },
    };
    return room;
  };

  const isQuiet = ({ current, queue, after, tidying, mode }: Room): boolean =>
    current === undefined && queue.length === 0 && after.length === 0 && tidying === undefined && mode === undefined;

  const roomOf = (place: Place): Room => {
    const key = sessionIdOf(place);
    const known = rooms.get(key);
    if (known !== undefined) return known;
    if (rooms.size >= MAX_ROOMS) for (const [each, room] of rooms) if (isQuiet(room)) rooms.delete(each);
    const made = makeRoom(place);
    rooms.set(key, made);
    return made;
  };

  const finish = async (task: Task): Promise<void> => {
    await inbox.finish(task.claim).catch((error: unknown) => log('warning', `an update could not be finished: ${messageOf(error)}`));
  };

  const runAgent = async (room: Room, current: Current, agent: RoomAgent): Promise<RunResult> => {
    const { task, controller } = current;
    const { selection, workspace } = agent.environment;
    const facts = { provider: selection.id, model: selection.model, workspace };
    const session = await openSession({ store: agent.composed.root.store }, room.place, facts, controller.signal);
    try {
      return await agent.composed.root.agent.run({
        session,
        task: task.text,
        ...(task.original !== undefined && { originalTask: task.original }),
        signal: controller.signal,
      });
    } finally {
      await session.close();
    }
  };

  const outcomeText = async ({ task, cause, tally }: Current, result: RunResult): Promise<string | undefined> => {
    const answer = base.mask(result.answer);
    if (cause === 'time') {
      return [`⏱️ Stopped after ${config.telegram.agent_timeout_seconds} s, the longest a request may take.`, answer]
        .filter(Boolean)
        .join('\n\n');
    }
    if (cause === 'stop') return interruptedText(tally);
    if (cause === 'end') return '🔄 odek ended in the middle of this. What was done until then is kept; write again to go on.';
    const why = base.mask(result.error?.message ?? '');
    if (result.outcome === 'failed') return [`❌ ${why || 'The run failed.'}`, answer].filter(Boolean).join('\n\n');
    if (result.outcome === 'budget') return [`⚠️ Stopped at its budget: ${why}`, answer].filter(Boolean).join('\n\n');
    if (result.outcome === 'cancelled') return `⏹️ ${why || 'The run was cancelled.'}`;
    const whole = answer || '(the run ended without a text)';
    return task.onAnswer ? task.onAnswer(whole) : whole;
  };

  /** Ends the show of progress, and says what came of the turn. */
  const conclude = async (room: Room, current: Current, result: RunResult): Promise<void> => {
    await current.progress?.end();
    const text = await outcomeText(current, result);
    const saying = async (): Promise<void> => {
      if (text !== undefined) await parts.answer(room.place, text, room.edges, base.signal);
      if (current.cause === undefined) await talk.say(room.place, statsText(result, current.tally), { silent: true });
      const warning = await budget.warning(sessionIdOf(room.place));
      if (warning !== undefined) await talk.say(room.place, warning);
    };
    await within(clock, saying(), ANSWER_WAIT_MS);
  };

  const perform = async (room: Room, current: Current): Promise<void> => {
    const { task, controller } = current;
    const refusal = await budget.refusal();
    if (refusal !== undefined) return talk.say(room.place, refusal);
    current.progress = openProgress(room.place, room.mode ?? config.telegram.progress, task.replyTo);
    const stopTyping = typing(base, room.place);
    const stopTimer = clock.after(config.telegram.agent_timeout_seconds * 1000, () => {
      current.cause ??= 'time';
      controller.abort();
    });
    try {
      const agent = await agents.open(room.place, room.edges);
      const result = await runAgent(room, current, agent);
      stopTyping();
      current.isAnswered = true;
      await conclude(room, current, result);
    } catch (error) {
      await current.progress.end();
      const text = hasCode(error, 'session_busy')
        ? '⏳ Another program works in this conversation right now; try again when it is done.'
        : `❌ ${base.mask(messageOf(error))}`;
      if (!hasCode(error, 'cancelled')) log('error', `a run of ${sessionIdOf(room.place)} failed: ${messageOf(error)}`);
      await talk.say(room.place, current.cause === 'stop' ? interruptedText(current.tally) : text);
    } finally {
      stopTyping();
      stopTimer();
      agents.rest(room.place);
    }
  };

  const runTask = async (room: Room, current: Current): Promise<void> => {
    const { task } = current;
    try {
      if (task.isBegun !== true) await inbox.begin(task.claim);
      await perform(room, current);
    } catch (error) {
      log('error', `a request of ${sessionIdOf(room.place)} failed: ${messageOf(error)}`);
    }
    await finish(task);
  };

  const tidy = async (room: Room): Promise<void> => {
    for (let work = room.after.shift(); work !== undefined; work = room.after.shift()) {
      await work().catch((error: unknown) => log('warning', messageOf(error)));
    }
  };

  const next = (room: Room): void => {
    if (room.current !== undefined || room.tidying !== undefined) return;
    if (room.after.length > 0) {
      room.tidying = tidy(room).finally(() => {
        delete room.tidying;
        next(room);
      });
      return;
    }
    const task = draining ? undefined : room.queue.shift();
    if (task === undefined) return;
    const done = Promise.withResolvers<void>();
    const current: Current = { task, controller: new AbortController(), done: done.promise, tally: tallyOf(clock) };
    room.current = current;
    void runTask(room, current).finally(() => {
      delete room.current;
      done.resolve();
      next(room);
    });
  };

  const busyRooms = (): readonly Current[] => [...rooms.values()].flatMap(({ current }) => (current === undefined ? [] : [current]));

  return {
    add(task) {
      const room = roomOf(task.place);
      if (room.queue.length >= MAX_QUEUE) {
        void talk.say(task.place, FULL).then(() => finish(task));
        return;
      }
      const waits = room.current !== undefined;
      room.queue.push(task);
      if (waits) void talk.say(task.place, QUEUED, { silent: true });
      next(room);
    },
    async stop(place) {
      const room = roomOf(place);
      const waiting = room.queue.splice(0);
      for (const task of waiting) {
        if (task.isBegun !== true) await inbox.begin(task.claim).catch(() => {});
        await finish(task);
      }
      const { current } = room;
      if (current === undefined) return waiting.length === 0 ? undefined : `⏹️ ${waiting.length} waiting requests are gone.`;
      current.cause ??= 'stop';
      current.controller.abort();
      await within(clock, current.done, STOP_MS);
      const gone = waiting.length === 0 ? '' : ` ${waiting.length} waiting requests are gone with it.`;
      return room.current === current ? `⏹️ Stopping…${gone}` : gone.trim();
    },
    isBusy(place) {
      const current = rooms.get(sessionIdOf(place))?.current;
      return current !== undefined && current.isAnswered !== true;
    },
    whenIdle(place, work) {
      const room = roomOf(place);
      if (room.after.length >= MAX_AFTER) room.after.shift();
      room.after.push(work);
      next(room);
    },
    modeOf: (place) => rooms.get(sessionIdOf(place))?.mode ?? config.telegram.progress,
    setMode(place, mode) {
      roomOf(place).mode = mode;
    },
    get running() {
      return busyRooms().length;
    },
    async drain(graceMs) {
      draining = true;
      await within(clock, Promise.all(busyRooms().map(({ done }) => done)), graceMs);
      for (const current of busyRooms()) {
        current.cause ??= 'end';
        current.controller.abort();
      }
      await within(clock, Promise.all(busyRooms().map(({ done }) => done)), CANCEL_MS);
    },
  };
}
