import { BudgetExceeded, type BudgetLimits, type Prices } from '../../ports/budget.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Usage } from '../../ports/message.ts';
import { activeLimits, usedDimensions } from './limits.ts';
import { costMicroUsd, inputTokens, microToUsd, type Price, resolvePrice } from './price.ts';
import { createWarnings } from './warnings.ts';

/** A place in the budget for one model call. Exactly one of `settle` and `release` counts; later calls change nothing. */
export interface ModelReservation {
  /** What the call may ask for: the wish, lowered to what is left. Send it as `max_tokens` when it is lower than the wish. */
  readonly maxOutputTokens: number;
  /** Books what the call used, even beyond the reservation. Returns its cost in millionths of a dollar, where prices are known. */
  settle(usage: Usage): number | undefined;
  /** Gives the place back: the call used nothing. */
  release(): void;
}

interface ModelCall {
  readonly inputTokens: number;
  readonly maxOutputTokens: number;
  readonly model?: string;
  /** Of what is left of each limit, at most this share is taken, so that the rest is there for others. 1 when absent. */
  readonly share?: number;
}

interface Spent {
  readonly usage: Usage;
  /** Absent unless both prices are known. */
  readonly costMicroUsd?: number;
  readonly toolCalls: number;
  readonly runtimeMs: number;
}

/** The one ledger of a run. Everything parallel in it shares it. */
export interface Budget {
  /** Throws {@link BudgetExceeded} `runtime` when the time is up. */
  checkRuntime(): void;
  /** Milliseconds until the time is up, at least 0; undefined without that limit. */
  remainingMs(): number | undefined;
  /**
   * Throws {@link BudgetExceeded} naming the limit when the call cannot fit. `model` is another one than
   * the run's: its own price counts, and where that is unknown the run's, so that no call is free.
   */
  reserveModelCall(call: ModelCall): ModelReservation;
  /** Takes one tool call. False when none is left: that call must not run. */
  reserveToolCall(): boolean;
  /** The first limit that what was booked has crossed, or that refused a tool call. For after a step; it throws nothing. */
  exceeded(): BudgetExceeded | undefined;
  spent(): Spent;
  /** The highest used share of all limits, 0 without limits; above 1 when one was overrun. */
  used(): number;
  /** The awareness line that is due now, at most one for each of 50, 75 and 90 % in a run. */
  warnings(progress: { readonly iteration: number; readonly maxIterations: number }): string | undefined;
}

/** Adds up usage. `cache_read` and `cache_write` appear once any part reported them. */
function addUsage(a: Usage, b: Usage): Usage {
  const sum = (x: number | undefined, y: number | undefined) => (x === undefined && y === undefined ? undefined : (x ?? 0) + (y ?? 0));
  const read = sum(a.cache_read, b.cache_read);
  const write = sum(a.cache_write, b.cache_write);
  return {
    input: a.input + b.input,
    output: a.output + b.output,
    ...(read === undefined ? {} : { cache_read: read }),
    ...(write === undefined ? {} : { cache_write: write }),
    estimated: a.estimated || b.estimated,
  };
}

interface Hold {
  readonly input: number;
  readonly output: number;
  /** What is booked. */
  readonly price: Price | undefined;
  /** Whether that is the model's own price. */
  readonly known: boolean;
}

/**
 * The hard limits of one run. Each is reserved before and settled after a call:
 *
 * - Input is refused when the estimate does not fit into what is left. Output is never refused for
 *   the size of the wish: the reservation is lowered to what is left, and only when not one token is
 *   left (or the cost of the input alone does not fit) is the budget exceeded.
 * - What parallel calls have reserved is not left for others until they settle or release.
 * - A call may turn out larger than its estimate; it is booked in full and `exceeded` tells.
 * - The cost limit is active only when both prices are known. Cost is kept in whole millionths of a dollar.
 *
 * `startedAt` is the clock's `monotonic` at the start of the run; now when absent.
 */
export function createBudget(options: {
  readonly limits: BudgetLimits;
  readonly prices: Prices;
  readonly clock: Clock;
  readonly model: string;
  readonly startedAt?: number;
}): Budget {
  const { clock } = options;
  const startedAt = options.startedAt ?? clock.monotonic();
  const price = resolvePrice(options.prices, options.model);
  const limits = activeLimits(options.limits, price);

  let usage: Usage = { input: 0, output: 0, estimated: false };
  let micro = 0;
  let toolCalls = 0;
  let refusedToolCalls = 0;
  const reserved = { input: 0, output: 0, micro: 0 };
  const nextWarning = createWarnings();

  const runtimeMs = () => clock.monotonic() - startedAt;
  const dimensions = () => usedDimensions(limits, { usage, micro, toolCalls, runtimeMs: runtimeMs() });

  function runtimeExceeded(): BudgetExceeded | undefined {
    const ms = Math.round(runtimeMs());
    if (limits.runtimeMs === undefined || ms < limits.runtimeMs) return undefined;
    return new BudgetExceeded('runtime', ms / 1000, limits.runtimeMs / 1000);
  }

  function checkRuntime(): void {
    const error = runtimeExceeded();
    if (error !== undefined) throw error;
  }

  function checkInput(input: number, share: number): void {
    if (limits.input === undefined) return;
    const taken = inputTokens(usage) + reserved.input;
    if (input > (limits.input - taken) * share) throw new BudgetExceeded('input_tokens', taken + input, limits.input);
  }

  function leftOutput(share: number): number {
    if (limits.output === undefined) return Number.POSITIVE_INFINITY;
    const taken = usage.output + reserved.output;
    const left = Math.floor((limits.output - taken) * share);
    if (left < 1) throw new BudgetExceeded('output_tokens', taken, limits.output);
    return left;
  }

  function affordableOutput(input: number, price: Price | undefined, share: number): number {
    if (limits.micro === undefined || price === undefined) return Number.POSITIVE_INFINITY;
    const taken = micro + reserved.micro;
    const left = (limits.micro - taken) * share - input * price.input;
    const tokens = price.output > 0 ? Math.floor(left / price.output) : left < 0 ? 0 : Number.POSITIVE_INFINITY;
    if (tokens >= 1) return tokens;
    const least = taken + costMicroUsd({ input, output: 1 }, price);
    throw new BudgetExceeded('cost_usd', microToUsd(least), microToUsd(limits.micro));
  }

  function hold({ input, output, price, known }: Hold): ModelReservation {
    const cost = price === undefined ? 0 : costMicroUsd({ input, output }, price);
    const book = (sign: 1 | -1) => {
      reserved.input += sign * input;
      reserved.output += sign * output;
      reserved.micro += sign * cost;
    };
    let open = true;
    book(1);
    const close = () => {
      if (open) book(-1);
      const wasOpen = open;
      open = false;
      return wasOpen;
    };
    return {
      maxOutputTokens: output,
      settle(reported) {
        if (!close()) return undefined;
        usage = addUsage(usage, reported);
        if (price === undefined) return undefined;
        const spent = costMicroUsd({ input: inputTokens(reported), output: reported.output }, price);
        micro += spent;
        return known ? spent : undefined;
      },
      release: () => void close(),
    };
  }

  return {
    checkRuntime,

    remainingMs: () => (limits.runtimeMs === undefined ? undefined : Math.max(0, limits.runtimeMs - runtimeMs())),

    reserveModelCall(call) {
      checkRuntime();
      const input = Math.max(0, Math.ceil(call.inputTokens));
      const { share = 1 } = call;
      checkInput(input, share);
      const wish = Math.max(1, Math.floor(call.maxOutputTokens));
      const own = call.model === undefined ? price : resolvePrice(options.prices, call.model);
      const booked = own ?? price;
      const output = Math.min(wish, leftOutput(share), affordableOutput(input, booked, share));
      return hold({ input, output, price: booked, known: own !== undefined });
    },

    reserveToolCall() {
      if (limits.toolCalls !== undefined && toolCalls >= limits.toolCalls) {
        refusedToolCalls += 1;
        return false;
      }
      toolCalls += 1;
      return true;
    },

    exceeded() {
      const runtime = runtimeExceeded();
      if (runtime !== undefined) return runtime;
      const input = inputTokens(usage);
      if (limits.input !== undefined && input > limits.input) return new BudgetExceeded('input_tokens', input, limits.input);
      if (limits.output !== undefined && usage.output > limits.output)
        return new BudgetExceeded('output_tokens', usage.output, limits.output);
      if (limits.micro !== undefined && micro > limits.micro) {
        return new BudgetExceeded('cost_usd', microToUsd(micro), microToUsd(limits.micro));
      }
      if (limits.toolCalls === undefined || refusedToolCalls === 0) return undefined;
      return new BudgetExceeded('tool_calls', toolCalls + refusedToolCalls, limits.toolCalls);
    },

    spent: () => ({ usage, ...(price === undefined ? {} : { costMicroUsd: micro }), toolCalls, runtimeMs: runtimeMs() }),

    used: () => dimensions().reduce((top, { share }) => Math.max(top, share), 0),

    warnings({ iteration, maxIterations }) {
      const iterations = { share: maxIterations > 0 ? iteration / maxIterations : 0, detail: `${iteration}/${maxIterations} iterations` };
      return nextWarning([iterations, ...dimensions()]);
    },
  };
}
