import { type LlmProvider, ProviderError } from '../../ports/llm.ts';
import type { Message } from '../../ports/message.ts';
import type { SlotName } from '../../ports/session.ts';
import type { AgentDeps, AgentSettings } from '../agent/settings.ts';
import type { Stage } from '../agent/stage.ts';
import type { RunState } from '../agent/state.ts';
import { estimateMessage, estimateRequest } from '../budget/estimate.ts';
import { commitChange } from './change.ts';
import { createCompaction } from './compaction.ts';
import { digestBody, digestContent, digestMaxTokens, digestRoom } from './digest.ts';
import { mergeDigests, parseDigest, renderDigest } from './digest-sections.ts';
import { extractDigest } from './extract.ts';
import { FEWEST_TO_SURVIVE, isTrim, planTrim, survivalSteps, type Trim } from './trim.ts';
import { addToTally, readWarning, WARNING_MAX_TOKENS, warningText } from './warning.ts';
import { type ContextBudget, contextBudget, isUnderestimated } from './window.ts';

type Mode = 'proactive' | 'survival';

const SURVIVAL_NOTE = {
  role: 'system',
  content:
    '[Context survival mode: the model refused the last request as too long, so most earlier messages are no longer shown. Go on from here; keep tool results small.]',
} as const;

/** Models whose tokens were seen to be more than the estimate, by the provider that said so: it holds as long as the provider lives. */
const calibrated = new WeakMap<LlmProvider, Set<string>>();

function isCalibrated({ provider }: AgentDeps, model: string): boolean {
  return calibrated.get(provider)?.has(model) ?? false;
}

/** Learns from the last call that the estimate is too low for this model. */
function calibrate(state: RunState): void {
  const { provider } = state.deps;
  const { model } = state.settings;
  if (!state.lastCall || isCalibrated(state.deps, model) || !isUnderestimated(state.lastCall)) return;
  calibrated.set(provider, (calibrated.get(provider) ?? new Set()).add(model));
  state.emit({ type: 'signal', name: 'context_trimmed', detail: 'margin_calibrated', iteration: state.iteration });
}

function budgetOf(state: RunState): ContextBudget | undefined {
  const { model } = state.settings;
  return contextBudget(state.deps.provider.limits(model).contextWindow, isCalibrated(state.deps, model));
}

/** Estimated tokens of the next request. */
function requestTokens({ transcript, deps }: RunState): number {
  return transcript.tokens + estimateRequest([], deps.tools.definitions());
}

function slotTokens({ transcript }: RunState, name: SlotName): number {
  const content = transcript.slot(name);
  return content === undefined ? 0 : estimateMessage({ role: 'system', content });
}

function droppedMessages(state: RunState, trim: Trim): readonly Message[] {
  return trim.dropped.flatMap(({ index, count }) => state.transcript.messages.slice(index, index + count));
}

function toolNames(messages: readonly Message[]): readonly string[] {
  return messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []).map((call) => call.name) : []));
}

function told(trim: Trim, mode: Mode): string {
  return `${mode}: ${trim.dropped.length} message groups dropped, ${trim.shortened.length} tool results shortened`;
}

function overflow(state: RunState, tokens: number, window: number): ProviderError {
  const tools = estimateRequest([], state.deps.tools.definitions());
  return new ProviderError(
    'context_length',
    `the context does not fit the model: system prompt, task, slots and the newest turn take about ${tokens - tools} tokens and the tools ${tools}, the window is ${window} (llm.context_window), and nothing else is left to trim`,
    { value: tokens, limit: window },
  );
}

/**
 * Keeps what is sent within the model's window (RUNTIME-FACTS 1.4 to 1.6): trims before a request,
 * makes a refused one smaller, and keeps a digest of what was dropped. One for each run.
 */
export function createContextStage(settings: AgentSettings): Stage {
  const compaction = settings.compaction === false ? undefined : createCompaction();

  const digestBytes = (budget: ContextBudget | undefined): number => (compaction ? digestRoom(budget?.budget) : 0);

  /** The digest as it stands, with notes on what is about to go. */
  const extendedDigest = (state: RunState, dropped: readonly Message[], maxBytes: number): string | undefined => {
    const known = parseDigest(digestBody(state.transcript.slot('digest')));
    const body = renderDigest(mergeDigests(known, extractDigest(dropped)), maxBytes);
    return digestContent(body, maxBytes, state.deps.ids.hex(8));
  };

  const slotsFor = (state: RunState, trim: Trim, mode: Mode, maxBytes: number): readonly (readonly [SlotName, string])[] => {
    const { transcript } = state;
    const dropped = droppedMessages(state, trim);
    const digest = dropped.length > 0 && maxBytes > 0 ? extendedDigest(state, dropped, maxBytes) : undefined;
    const tally = addToTally(readWarning(transcript.slot('warning')), {
      groups: trim.dropped.length,
      results: trim.shortened.length,
      tools: toolNames(dropped),
    });
    const hasDigest = digest !== undefined || transcript.slot('digest') !== undefined;
    const warning = warningText(tally, { survival: mode === 'survival', digest: hasDigest });
    return [...(digest === undefined ? [] : [['digest', digest] as const]), ['warning', warning]];
  };

  const perform = async (state: RunState, trim: Trim, mode: Mode, budget: ContextBudget | undefined): Promise<void> => {
    const maxBytes = digestBytes(budget);
    const slots = slotsFor(state, trim, mode, maxBytes);
    if (maxBytes > 0) compaction?.add(droppedMessages(state, trim));
    await commitChange(state, { trim, slots, ...(mode === 'survival' && { message: SURVIVAL_NOTE }) });
    const data = { mode, dropped_groups: trim.dropped.length, truncated_results: trim.shortened.length };
    state.emit({ type: 'context_trimmed', iteration: state.iteration, data });
    state.emit({ type: 'signal', name: 'context_trimmed', detail: told(trim, mode), iteration: state.iteration });
    compaction?.start(state, digestBody(state.transcript.slot('digest')), { digestBytes: maxBytes, budget: budget?.budget });
  };

  /** Puts a digest that arrived in the place of the one that was extracted. */
  const takeDigest = async (state: RunState, budget: ContextBudget | undefined): Promise<void> => {
    const maxBytes = digestBytes(budget);
    const body = compaction?.take(maxBytes);
    const digest = body === undefined ? undefined : digestContent(body, maxBytes, state.deps.ids.hex(8));
    if (digest === undefined) return;
    await commitChange(state, { trim: { shortened: [], dropped: [], saved: 0 }, slots: [['digest', digest]] });
    // What was dropped while that call was under way is its successor's matter.
    compaction?.start(state, digestBody(digest), { digestBytes: maxBytes, budget: budget?.budget });
  };

  const trimToBudget = async (state: RunState, budget: ContextBudget): Promise<void> => {
    const tokens = requestTokens(state);
    if (tokens <= budget.budget) return;
    const warningCost = Math.max(0, WARNING_MAX_TOKENS - slotTokens(state, 'warning'));
    const maxBytes = digestBytes(budget);
    const digestCost = maxBytes === 0 ? 0 : Math.max(0, digestMaxTokens(maxBytes) - slotTokens(state, 'digest'));
    const trim = planTrim(state.transcript.entries, {
      enough: tokens - budget.enough + warningCost,
      target: tokens - budget.target + warningCost + digestCost,
    });
    if (isTrim(trim)) await perform(state, trim, 'proactive', budget);
  };

  /** Nothing is left to drop and the request is still larger than the window: the newest results go too, before it is given up. */
  const fitWindow = async (state: RunState, budget: ContextBudget): Promise<void> => {
    const trim = survivalSteps(state.transcript.entries).at(-1);
    if (trim && isTrim(trim)) await perform(state, trim, 'proactive', budget);
    const tokens = requestTokens(state);
    if (tokens > budget.window) throw overflow(state, tokens, budget.window);
  };

  const survive = async (state: RunState): Promise<boolean> => {
    const { entries, messages } = state.transcript;
    if (messages.length <= FEWEST_TO_SURVIVE) return false;
    const budget = budgetOf(state);
    const noteTokens = estimateMessage(SURVIVAL_NOTE);
    for (const trim of survivalSteps(entries)) {
      if (!isTrim(trim)) continue;
      const slots = slotsFor(state, trim, 'survival', digestBytes(budget));
      const added = slots.reduce(
        (sum, [name, content]) => sum + estimateMessage({ role: 'system', content }) - slotTokens(state, name),
        noteTokens,
      );
      if (trim.saved <= added) continue;
      await perform(state, trim, 'survival', budget);
      return true;
    }
    return false;
  };

  return {
    name: 'context',
    async beforeThink(state) {
      calibrate(state);
      const budget = budgetOf(state);
      await takeDigest(state, budget);
      if (!budget) return;
      await trimToBudget(state, budget);
      if (requestTokens(state) > budget.window) await fitWindow(state, budget);
    },
    onTooLong: survive,
    end: () => compaction?.end(),
  };
}
