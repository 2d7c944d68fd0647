import { BudgetExceeded } from '../../ports/budget.ts';
import { CancelledError, OdekError } from '../../ports/errors.ts';
import type { SystemMessage, UserMessage } from '../../ports/message.ts';
import type { RunResult } from '../../ports/run.ts';
import type { JournalRecord, SessionWriter, StoredRecord } from '../../ports/session.ts';
import { createFriction, type Friction } from '../approvals/friction.ts';
import { createGate, type Gate } from '../approvals/gate.ts';
import type { AuditedTurn } from '../audit/stage.ts';
import { createBudget } from '../budget/budget.ts';
import { foldJournal, repairRecords } from '../transcript/fold.ts';
import { createTranscript, type Transcript } from '../transcript/transcript.ts';
import { createCallIds } from './call-ids.ts';
import { createEmitter, type Emit } from './emitter.ts';
import { createJournal, type Journal } from './journal.ts';
import { noteWhatIsLeft, runLoop } from './loop.ts';
import { conclude, type Ended, heldBack, reportFor, stoppedBy } from './outcome.ts';
import type { AgentDeps, AgentSettings, RunInput } from './settings.ts';
import { createStages } from './stages.ts';
import type { RunState } from './state.ts';

/** The agent: one ReAct loop around a provider and a set of tools. */
export interface Agent {
  /**
   * Runs one turn in an open session and resolves when it ended, however it ended: a budget, a
   * cancellation and a failure are results, not exceptions. Rejects only when the session cannot be
   * written, or with `nothing_to_continue` when no task was given and no run was interrupted.
   */
  run(input: RunInput): Promise<RunResult>;
  /** From any thread of control: at the next iteration boundary, stop and report. Reset when a run starts. */
  requestFinalisation(): void;
}

const RUN_ID_BYTES = 16;
const MAX_TITLE = 200;

/** The journal with every open call given a result, stored before anything else happens. */
async function openTranscript(session: SessionWriter): Promise<Transcript> {
  const folded = foldJournal(session.records);
  if (folded.open.length === 0) return createTranscript(folded);
  const repairs = repairRecords(folded.open);
  const last = await session.append(repairs);
  const first = last - repairs.length + 1;
  const appended: StoredRecord[] = repairs.map((record, index) => ({ seq: first + index, at: 0, record }));
  return createTranscript(foldJournal([...session.records, ...appended]));
}

/** A hint behind an answer or a result belongs to a run that was going on; slots say nothing about that. */
function needsTurn({ entries }: Transcript): boolean {
  const last = entries.findLastIndex(({ seq }) => seq !== 0);
  const message = entries[last]?.message;
  if (message === undefined) return true;
  return message.role === 'assistant' ? !message.toolCalls?.length : message.role === 'system' && last === 0;
}

const MOVED = 'The working directory is now: ';

/** Told when a session goes on elsewhere than its system prompt, which never changes, says. */
function movedTo(workspace: string, began: string, { messages }: Transcript): string | undefined {
  const last = messages.findLast((message) => message.role === 'system' && message.content.startsWith(MOVED));
  const text = `${MOVED}${workspace}`;
  return text === (last?.content ?? `${MOVED}${began}`) ? undefined : text;
}

/** The messages that begin a turn: the system prompt of a new session, where it goes on, and the user's task. */
function openingMessages(settings: AgentSettings, transcript: Transcript, { session, task }: RunInput): (SystemMessage | UserMessage)[] {
  const isNew = transcript.messages.length === 0;
  const system = isNew ? settings.systemPrompt : movedTo(settings.workspace, session.header.workspace, transcript);
  return [
    ...(system === undefined ? [] : [{ role: 'system', content: system } as const]),
    ...(task === undefined ? [] : [{ role: 'user', content: task } as const]),
  ];
}

/** The same as redacted journal records. */
function openingRecords(deps: AgentDeps, settings: AgentSettings, transcript: Transcript, runId: string, input: RunInput): JournalRecord[] {
  return openingMessages(settings, transcript, input).map(
    (message): JournalRecord => ({
      kind: 'message',
      run: runId,
      iteration: 0,
      message: { ...message, content: deps.redactor.text(message.content) },
    }),
  );
}

/** A signal that fires with the host's, and with `BudgetExceeded` when the runtime limit is up. */
function runSignal(deps: AgentDeps, settings: AgentSettings, outer: AbortSignal): { signal: AbortSignal; stop(): void } {
  const limit = settings.limits.max_runtime_seconds ?? 0;
  const cancel = new AbortController();
  const onAbort = (): void => cancel.abort(new CancelledError('the run was cancelled'));
  if (outer.aborted) onAbort();
  else outer.addEventListener('abort', onAbort, { once: true });
  const stopTimer =
    limit > 0 ? deps.clock.after(limit * 1000, () => cancel.abort(new BudgetExceeded('runtime', limit, limit))) : (): void => {};
  return {
    signal: cancel.signal,
    stop: () => {
      outer.removeEventListener('abort', onAbort);
      stopTimer();
    },
  };
}

/** The user message that this run belongs to: a new one, or that of the interrupted run it goes on with. */
function auditedTurn({ session, task, originalTask }: RunInput): AuditedTurn {
  return { turn: session.header.turns + (task === undefined ? 0 : 1), prompt: originalTask ?? task };
}

interface GateParts {
  readonly deps: AgentDeps;
  readonly settings: AgentSettings;
  readonly session: SessionWriter;
  readonly journal: Journal;
  readonly emit: Emit;
  readonly trusted: Set<string>;
  readonly friction: Friction;
}

function journalledGate({ deps, settings, session, journal, emit, trusted, friction }: GateParts): Gate {
  return createGate({
    ...(deps.approver && { approver: deps.approver }),
    policy: settings.danger,
    ids: deps.ids,
    clock: deps.clock,
    trusted,
    friction,
    timeoutMs: settings.approvalTimeoutMs,
    sessionId: session.header.id,
    onAsked: async (request, calls) => {
      const asked = calls.flatMap(({ key }, index): JournalRecord[] => {
        const { class: cls, resource } = request.items[index] ?? request.items[0];
        return key ? [{ kind: 'approval_asked', key, approvalId: request.id, class: cls, resource: deps.redactor.text(resource) }] : [];
      });
      // Stored with everything before it, so a card never refers to a message that a crash could lose.
      if (asked.length > 0) await journal.append(asked);
      emit({ type: 'approval_asked', request });
    },
    onAnswered: async (request, verdict, calls) => {
      const { decision, by } = verdict;
      const answered = calls.flatMap(({ key }): JournalRecord[] =>
        key ? [{ kind: 'approval_answered', key, approvalId: request.id, decision, by }] : [],
      );
      if (answered.length > 0) await journal.append(answered);
      emit({ type: 'approval_answered', request_id: request.id, verdict });
    },
  });
}

async function loopToEnd(state: RunState, gate: Gate, finalise: () => boolean): Promise<{ ended: Ended; report: string | undefined }> {
  try {
    return { ended: await runLoop(state, gate, { finalisationRequested: finalise }), report: undefined };
  } catch (thrown) {
    const error = stoppedBy(thrown, state.signal);
    if (error instanceof BudgetExceeded) await noteWhatIsLeft(state);
    // Only the tool-call limit leaves a budget to report with.
    const mayReport = error instanceof BudgetExceeded && error.limitName === 'tool_calls';
    const report = mayReport ? await reportFor(state, 'execution') : heldBack(state);
    // An answer that was there already is not lost to the failure of a second attempt.
    if (report === undefined || error instanceof BudgetExceeded || state.signal.aborted)
      return { ended: { kind: 'stopped', error }, report };
    const told = state.deps.redactor.text(error instanceof Error ? error.message : String(error));
    state.emit({ type: 'notice', level: 'warning', text: `the answer could not be improved: ${told}` });
    return { ended: { kind: 'answer', answer: report, partial: true }, report };
  }
}

export function createAgent(deps: AgentDeps, settings: AgentSettings): Agent {
  let finalisation = false;
  const friction = createFriction(deps.clock);
  // What a person trusts holds for the session, over all turns of this agent.
  const trusted = new Map<string, Set<string>>();
  const trustedIn = (session: string): Set<string> => {
    const known = trusted.get(session) ?? new Set<string>();
    trusted.set(session, known);
    return known;
  };

  const begin = async (input: RunInput, runId: string, emit: Emit): Promise<{ transcript: Transcript; journal: Journal }> => {
    const transcript = await openTranscript(input.session);
    if (input.task === undefined && needsTurn(transcript)) {
      throw new OdekError('nothing_to_continue', 'the session has no interrupted run to go on with; give a task', {
        value: input.session.header.id,
      });
    }
    const journal = createJournal(input.session);
    const records = openingRecords(deps, settings, transcript, runId, input);
    const first = records.length > 0 ? await journal.append(records) : 0;
    records.forEach((record, index) => {
      if (record.kind === 'message') transcript.push(record.message, first + index);
    });
    const untitled = input.session.header.title === '' && input.task !== undefined;
    const title = untitled ? [...deps.redactor.text(input.originalTask ?? input.task ?? '')].slice(0, MAX_TITLE).join('') : undefined;
    await input.session.update({ lastRun: { id: runId, state: 'running' }, ...(title !== undefined && { title }) });
    emit({ type: 'run_started', data: { model: settings.model, sandbox: settings.sandbox, max_iterations: settings.maxIterations } });
    return { transcript, journal };
  };

  const run = async (input: RunInput): Promise<RunResult> => {
    finalisation = false;
    const { session, runId = deps.ids.hex(RUN_ID_BYTES) } = input;
    const emit = createEmitter(deps.emit, deps, runId, session.header.id);
    const startedAt = deps.clock.monotonic();
    const { transcript, journal } = await begin(input, runId, emit);
    const { signal, stop } = runSignal(deps, settings, input.signal);
    const budget = createBudget({ limits: settings.limits, prices: settings.prices, clock: deps.clock, model: settings.model });
    const state: RunState = {
      deps,
      settings,
      runId,
      sessionId: session.header.id,
      transcript,
      callIds: createCallIds(transcript.messages),
      journal,
      budget,
      emit,
      stages: createStages(deps, settings, runId, auditedTurn(input)),
      signal,
      startedAt,
      iteration: 0,
      llmMs: 0,
      llmOutputTokens: 0,
    };
    try {
      const gate = journalledGate({ deps, settings, session, journal, emit, friction, trusted: trustedIn(session.header.id) });
      const { ended, report } = await loopToEnd(state, gate, () => finalisation);
      await journal.flush();
      const result = conclude(state, ended, report);
      await session.update({ lastRun: { id: runId, state: result.outcome } });
      return result;
    } finally {
      for (const stage of state.stages) stage.end?.();
      stop();
    }
  };

  return {
    run,
    requestFinalisation: () => {
      finalisation = true;
    },
  };
}
