import type { BudgetLimitName, RunEvent } from '../../../ports/event.ts';
import type { RunResult } from '../../../ports/run.ts';
import { counted, formatCost, formatDuration, formatTokens } from './figures.ts';
import { sanitiseLine } from './sanitise.ts';

/** Figures of the run so far, as the events told them. */
export interface Progress {
  model: string;
  iteration: number;
  maxIterations: number;
  inputTokens: number;
  outputTokens: number;
  costUsd?: number;
  /** Share of the nearest limit, 0 to 1 or more. */
  budgetUsed?: number;
  startedAt: number;
  exceeded?: { readonly limit_name: BudgetLimitName; readonly observed: number; readonly limit: number };
}

export function createProgress(): Progress {
  return { model: '', iteration: 0, maxIterations: 0, inputTokens: 0, outputTokens: 0, startedAt: 0 };
}

/** Folds one event in. */
export function updateProgress(progress: Progress, event: RunEvent): void {
  if (progress.startedAt === 0 || event.type === 'run_started') progress.startedAt = event.at;
  switch (event.type) {
    case 'run_started':
      progress.model = event.data.model;
      progress.maxIterations = event.data.max_iterations;
      break;
    case 'iteration_started':
      progress.iteration = event.iteration;
      progress.maxIterations = event.max_iterations;
      break;
    case 'iteration_completed':
      progress.inputTokens = event.data.input_tokens;
      progress.outputTokens = event.data.output_tokens;
      break;
    case 'usage':
      progress.inputTokens = event.input_tokens;
      progress.outputTokens = event.output_tokens;
      if (event.cost_usd !== undefined) progress.costUsd = event.cost_usd;
      if (event.budget_used !== undefined) progress.budgetUsed = event.budget_used;
      break;
    case 'budget_exceeded':
      progress.exceeded = event.data;
      break;
  }
}

function totals(progress: Progress): string[] {
  if (progress.inputTokens === 0 && progress.outputTokens === 0) return [];
  return [`${formatTokens(progress.inputTokens)} in`, `${formatTokens(progress.outputTokens)} out`];
}

/** `═══ Iter 2/90 · model ═══  [1.2k in · 300 out · 4.1 s]`, with the totals so far from the second on. */
export function iterationHeader(progress: Progress, now: number): string {
  const sums = totals(progress);
  const seen = sums.length === 0 ? '' : `  [${[...sums, formatDuration(now - progress.startedAt)].join(' · ')}]`;
  return `═══ Iter ${progress.iteration}/${progress.maxIterations} · ${sanitiseLine(progress.model)} ═══${seen}`;
}

/** `iter 3/90 · 12.3k in · 1.2k out · $0.0123 · budget 34% · 12.0 s` */
export function statusLine(progress: Progress, now: number): string {
  return [
    progress.iteration === 0 ? 'starting' : `iter ${progress.iteration}/${progress.maxIterations}`,
    ...totals(progress),
    ...(progress.costUsd === undefined ? [] : [formatCost(progress.costUsd)]),
    ...(progress.budgetUsed === undefined ? [] : [`budget ${Math.round(progress.budgetUsed * 100)}%`]),
    formatDuration(Math.floor((now - progress.startedAt) / 1_000) * 1_000 || 0),
  ].join(' · ');
}

const LIMIT_WORDS: Readonly<Record<BudgetLimitName, string>> = {
  runtime: 'run time',
  tool_calls: 'tool calls',
  input_tokens: 'input tokens',
  output_tokens: 'output tokens',
  cost_usd: 'cost',
};

function limitValue(name: BudgetLimitName, value: number): string {
  if (name === 'cost_usd') return formatCost(value);
  return name === 'runtime' ? formatDuration(value * 1_000) : value.toLocaleString('en-US');
}

/** What the end of a run says, line by line. The first line's `mark` is coloured by outcome. */
export interface Summary {
  readonly mark: string;
  readonly lines: readonly [string, ...string[]];
}

const OUTCOME_WORDS: Readonly<Record<RunResult['outcome'], readonly [mark: string, words: string]>> = {
  answer: ['✓', 'answer'],
  partial: ['◐', 'partial summary'],
  budget: ['✗', 'budget used up'],
  cancelled: ['⊘', 'cancelled'],
  failed: ['✗', 'failed'],
};

function tokenLine(result: RunResult): string {
  const { usage } = result;
  // What a service does not report is not shown, which is not the same as none.
  const stored = usage.cache_write === undefined ? '' : ` · ${formatTokens(usage.cache_write)} stored`;
  const read = usage.cache_read === undefined ? '' : ` · ${formatTokens(usage.cache_read)} read`;
  const cost = result.cost_usd === undefined ? '' : ` · ${formatCost(result.cost_usd)}`;
  return `tokens: ${formatTokens(usage.input)} in · ${formatTokens(usage.output)} out${stored}${read}${usage.estimated ? ' (estimated)' : ''}${cost}`;
}

/** `listed`: the session can be found again with `odek session list`. */
export function summarise(result: RunResult, progress: Progress, toolCalls: number, listed: boolean): Summary {
  const [mark, words] = OUTCOME_WORDS[result.outcome];
  const shape = [words, counted(result.iterations, 'iteration'), counted(toolCalls, 'tool call'), formatDuration(result.duration_ms)];
  const { exceeded } = progress;
  const limit =
    exceeded === undefined
      ? []
      : [
          `limit: ${LIMIT_WORDS[exceeded.limit_name]}, used ${limitValue(exceeded.limit_name, exceeded.observed)} of ${limitValue(exceeded.limit_name, exceeded.limit)}`,
        ];
  const error =
    result.error === undefined || limit.length > 0 ? [] : [`${sanitiseLine(result.error.message)} (${sanitiseLine(result.error.code)})`];
  const session = listed ? [`session: ${sanitiseLine(result.session_id)}`] : [];
  return { mark, lines: [shape.join(' · '), ...error, ...limit, tokenLine(result), ...session] };
}
