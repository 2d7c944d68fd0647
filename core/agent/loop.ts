import { hasCode, OdekError } from '../../ports/errors.ts';
import { ProviderError } from '../../ports/llm.ts';
import type { Gate } from '../approvals/gate.ts';
import { runBatch } from './batch.ts';
import { type Ended, reportFor } from './outcome.ts';
import type { EndedCall } from './stage.ts';
import type { RunState } from './state.ts';
import { type Thought, think } from './think.ts';

/** What the loop can be told from outside while it runs. */
export interface LoopControl {
  /** Asked at each iteration boundary: stop with a report instead of another tool batch. */
  finalisationRequested(): boolean;
}

function emitUsage(state: RunState, thought: Thought): void {
  const { usage, costMicroUsd } = state.budget.spent();
  state.emit({
    type: 'usage',
    iteration: state.iteration,
    input_tokens: usage.input,
    output_tokens: usage.output,
    estimated: usage.estimated,
    ...(usage.cache_read !== undefined && { cache_read: usage.cache_read }),
    ...(usage.cache_write !== undefined && { cache_write: usage.cache_write }),
    ...(costMicroUsd !== undefined && { cost_usd: costMicroUsd / 1_000_000 }),
    budget_used: state.budget.used(),
  });
  state.emit({ type: 'message', iteration: state.iteration, message: thought.message, final: thought.calls.length === 0 });
}

function emitStep(state: RunState, thought: Thought): void {
  const { usage } = state.budget.spent();
  state.emit({ type: 'session_saved', iteration: state.iteration, data: { message_count: state.journal.messages } });
  state.emit({
    type: 'iteration_completed',
    iteration: state.iteration,
    data: {
      input_tokens: usage.input,
      output_tokens: usage.output,
      tools_called: thought.calls.map((call) => call.name),
      ...thought.speed,
    },
  });
}

/** Hints of an iteration go to the model as one system message, stored like any other. */
async function addHints(state: RunState, hints: readonly string[]): Promise<void> {
  if (hints.length === 0) return;
  // One call after another may have led to the same advice.
  const text = [...new Set(hints)].join('\n');
  const message = { role: 'system', content: text } as const;
  const seq = await state.journal.append([{ kind: 'message', run: state.runId, iteration: state.iteration, message }]);
  state.transcript.push(message, seq);
  state.emit({ type: 'hint', iteration: state.iteration, text });
}

/** A limit ends the run: what is left is stored for the model that goes on, and told to the person. */
export async function noteWhatIsLeft(state: RunState): Promise<void> {
  const notes = state.stages.flatMap((stage) => stage.atLimit?.(state) ?? []);
  for (const { message: content, told } of notes) {
    const message = { role: 'system', content } as const;
    const seq = await state.journal.append([{ kind: 'message', run: state.runId, iteration: state.iteration, message }]);
    state.transcript.push(message, seq);
    state.emit({ type: 'notice', level: 'info', text: told });
  }
}

function budgetLine(state: RunState): readonly string[] {
  const text = state.budget.warnings({ iteration: state.iteration, maxIterations: state.settings.maxIterations });
  if (text === undefined) return [];
  state.emit({ type: 'signal', name: 'budget_warning', detail: text, iteration: state.iteration });
  return state.settings.announceBudget === false ? [] : [text];
}

/** What the stages make of an answer: a hint to go on with, or the text that is shipped. */
async function settleAnswer(state: RunState, thought: Thought): Promise<{ readonly hint: string } | { readonly text: string }> {
  let text = thought.message.content;
  for (const stage of state.stages) {
    const verdict = await stage.onAnswer?.(state, thought, text);
    if (verdict?.kind === 'again') return { hint: verdict.hint };
    if (verdict?.kind === 'answer') text = verdict.text;
  }
  return { text };
}

/** The message as it is shipped: what a stage added belongs to it, so it is stored and shown with it. */
function withText(thought: Thought, text: string): Thought {
  if (text === thought.message.content) return thought;
  const message = { ...thought.message, content: text };
  const records = thought.records.map((record) => (record.kind === 'message' ? { ...record, message } : record));
  return { ...thought, message, records };
}

async function storeAnswer(state: RunState, thought: Thought): Promise<void> {
  const seq = await state.journal.append(thought.records);
  state.transcript.push(thought.message, seq);
  emitUsage(state, thought);
  emitStep(state, thought);
}

/** An empty message would be refused by services ever after, so what it cost is stored, and the message is not. */
async function refuseEmpty(state: RunState, thought: Thought): Promise<never> {
  await state.journal.append(thought.records.filter((record) => record.kind !== 'message'));
  emitUsage(state, thought);
  emitStep(state, thought);
  const why = thought.finish === 'stop' ? '' : ` (finish reason: ${thought.finish})`;
  throw new ProviderError('invalid_response', `the model returned neither text nor a tool call${why}`);
}

/** Ends the run with the answer, or returns `undefined` when a stage wants the loop to go on. */
async function answer(state: RunState, drafted: Thought): Promise<Ended | undefined> {
  if (drafted.message.content.trim() === '') return refuseEmpty(state, drafted);
  const settled = await settleAnswer(state, drafted);
  if ('hint' in settled) {
    await storeAnswer(state, drafted);
    await addHints(state, [settled.hint, ...budgetLine(state)]);
    return undefined;
  }
  const thought = withText(drafted, settled.text);
  await storeAnswer(state, thought);
  if (thought.finish !== 'stop') {
    state.emit({ type: 'notice', level: 'warning', text: `the answer is incomplete: the model stopped with "${thought.finish}"` });
  }
  const over = state.budget.exceeded();
  // The call was paid for: its text is kept, and the overrun is still told.
  if (over) return { kind: 'stopped', error: over, answer: thought.message.content };
  return { kind: 'answer', answer: thought.message.content, partial: thought.finish === 'length' };
}

async function act(state: RunState, gate: Gate, thought: Thought): Promise<readonly EndedCall[]> {
  // Queued, so that it shares a commit with the first "started"; told once it is stored.
  const stored = state.journal.defer(thought.records).then((seq) => {
    emitUsage(state, thought);
    return seq;
  });
  // The batch fails with the same store, and is waited for first.
  stored.catch(() => {});
  const results = await runBatch(state, gate, thought.calls);
  await state.journal.flush();
  state.transcript.push(thought.message, await stored);
  for (const { message, seq } of results) state.transcript.push(message, seq);
  return results.map(({ ended }) => ended);
}

/** Asks the model. A request that is too long is made smaller by a stage: `undefined`, and that took an iteration. */
async function thinkWithinReach(state: RunState): Promise<Thought | undefined> {
  for (const stage of state.stages) await stage.beforeThink?.(state);
  try {
    return await think(state);
  } catch (error) {
    if (!hasCode(error, 'context_length')) throw error;
    for (const stage of state.stages) if (await stage.onTooLong?.(state)) return undefined;
    throw error;
  }
}

/** What the stages tell the model after a batch, and the budget line where one is due. */
async function observe(state: RunState, ended: readonly EndedCall[]): Promise<void> {
  const hints: string[] = [];
  for (const stage of state.stages) hints.push(...((await stage.afterBatch?.(state, ended)) ?? []));
  await addHints(state, [...hints, ...budgetLine(state)]);
}

async function capReached(state: RunState): Promise<Ended> {
  await noteWhatIsLeft(state);
  const report = await reportFor(state, 'iteration');
  if (report !== undefined) return { kind: 'answer', answer: report, partial: true };
  throw new OdekError('max_iterations', `reached max iterations (${state.settings.maxIterations}) without final answer`, {
    limit: state.settings.maxIterations,
  });
}

async function finalise(state: RunState): Promise<Ended> {
  await noteWhatIsLeft(state);
  const report = await reportFor(state, 'time');
  if (report !== undefined) return { kind: 'answer', answer: report, partial: true };
  throw new OdekError('time_budget', `time budget reached after ${state.iteration} iterations without final answer`);
}

/** Think, act, observe, until there is an answer (RUNTIME-FACTS 1.1, 1.2). Throws what stops it. */
export async function runLoop(state: RunState, gate: Gate, control: LoopControl): Promise<Ended> {
  const { maxIterations } = state.settings;
  for (const stage of state.stages) await stage.begin?.(state);
  while (state.iteration < maxIterations) {
    if (control.finalisationRequested()) return finalise(state);
    state.signal.throwIfAborted();
    state.budget.checkRuntime();
    state.iteration += 1;
    state.emit({ type: 'iteration_started', iteration: state.iteration, max_iterations: maxIterations });
    const thought = await thinkWithinReach(state);
    if (thought === undefined) continue;
    if (thought.calls.length === 0) {
      const answered = await answer(state, thought);
      if (answered) return answered;
      continue;
    }
    const ended = await act(state, gate, thought);
    emitStep(state, thought);
    state.signal.throwIfAborted();
    const over = state.budget.exceeded();
    if (over) throw over;
    await observe(state, ended);
  }
  return capReached(state);
}
