import type { CallSpeed } from '../../ports/event.ts';
import type { ModelEvent, ModelRequest, ToolDefinition } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';
import type { AssistantMessage, Usage } from '../../ports/message.ts';
import type { JournalRecord } from '../../ports/session.ts';
import { displayText } from '../approvals/display.ts';
import type { ModelReservation } from '../budget/budget.ts';
import { estimateMessage, estimateRequest } from '../budget/estimate.ts';
import { inputTokens as countInput } from '../budget/price.ts';
import type { Redactor } from '../redact/redactor.ts';
import { createRedactedStream } from '../redact/stream.ts';
import { withSafeNames } from './call-names.ts';
import { MAX_REFUSED, offeredTo, refuse, refusedTool } from './refused-tools.ts';
import { measured, type RunState, tokensPerSecond } from './state.ts';
import type { Thought } from './thought.ts';

export type { Thought } from './thought.ts';

type ModelResponse = Extract<ModelEvent, { type: 'response' }>;

/** Output that is reserved when neither a setting nor the model's own cap is known (DECISIONS 43). */
const UNKNOWN_OUTPUT_CAP = 4096;

const MASKED = new WeakMap<readonly ToolDefinition[], readonly ToolDefinition[]>();

/** Tools of others describe themselves; what they say may hold a secret that they were given. */
function maskedDefinitions(definitions: readonly ToolDefinition[], redactor: Redactor): readonly ToolDefinition[] {
  const known = MASKED.get(definitions);
  if (known !== undefined) return known;
  const text = JSON.stringify(definitions);
  const safe = redactor.json(text);
  const made = safe === text ? definitions : (JSON.parse(safe) as readonly ToolDefinition[]);
  MASKED.set(definitions, made);
  return made;
}

function buildRequest(state: RunState, maxTokens: number | undefined): ModelRequest {
  const { settings, deps, transcript } = state;
  return {
    model: settings.model,
    messages: transcript.messages,
    tools: maskedDefinitions(offeredTo(deps.provider, deps.tools.definitions()), deps.redactor),
    stream: settings.stream,
    ...(maxTokens !== undefined && { maxTokens }),
    ...(settings.temperature !== undefined && { temperature: settings.temperature }),
    ...(settings.thinking !== undefined && { thinking: settings.thinking }),
  };
}

/** What was heard of a reply so far; kept when the reply breaks off, because it was paid for. */
interface Heard {
  firstDeltaAt: number | undefined;
  characters: number;
}

type DeltaKind = 'text_delta' | 'reasoning_delta';

/** Tells the deltas of a reply with every secret masked, which delays them by a word at most. */
function createDeltas({ deps, emit, iteration }: RunState) {
  const stream = createRedactedStream(deps.redactor);
  let kind: DeltaKind | undefined;
  const tell = (text: string): void => {
    if (kind !== undefined && text !== '') emit({ type: kind, iteration, text });
  };
  const end = (): void => {
    tell(stream.end());
    kind = undefined;
  };
  return {
    add(type: DeltaKind, text: string): void {
      if (kind !== type) end();
      kind = type;
      tell(stream.push(text));
    },
    end,
  };
}

async function listen(state: RunState, request: ModelRequest, heard: Heard): Promise<ModelResponse> {
  const { deps, emit, signal } = state;
  const deltas = createDeltas(state);
  let response: ModelResponse | undefined;
  try {
    for await (const event of deps.provider.stream(request, signal)) {
      if (event.type === 'text_delta' || event.type === 'reasoning_delta') {
        heard.firstDeltaAt ??= deps.clock.monotonic();
        heard.characters += event.text.length;
        deltas.add(event.type, event.text);
      } else if (event.type === 'notice') {
        emit({ type: 'notice', level: 'info', text: event.text });
      } else if (event.type === 'response') {
        response = event;
      }
    }
  } finally {
    deltas.end();
  }
  if (!response) throw new ProviderError('stream_incomplete', 'the provider ended without a response');
  return response;
}

/**
 * Listens, and asks again without a tool of somebody else that the service refuses: one bad definition
 * must not cost the run all of its tools. What is left out is told.
 */
async function listenWithout(state: RunState, maxTokens: number | undefined, heard: Heard): Promise<ModelResponse> {
  const { deps, emit } = state;
  for (let left = MAX_REFUSED; ; left -= 1) {
    try {
      return await listen(state, buildRequest(state, maxTokens), heard);
    } catch (error) {
      const definitions = deps.tools.definitions();
      const tool = left > 0 ? refusedTool(error, offeredTo(deps.provider, definitions), deps.tools.get) : undefined;
      if (tool === undefined || heard.characters > 0) throw error;
      refuse(deps.provider, tool, definitions);
      const why = displayText(deps.redactor.text((error as Error).message), 300);
      emit({
        type: 'notice',
        level: 'warning',
        text: `the tool ${tool.name} is left out: the model's service refuses its definition (${why})`,
      });
    }
  }
}

/** Reasoning is the provider's own matter: the message says whose it is. */
function signed(message: AssistantMessage, provider: string): AssistantMessage {
  if (message.reasoning === undefined && message.reasoningSignature === undefined) return message;
  return { ...message, origin: provider };
}

/** A message with every secret masked. Arguments stay valid JSON. */
export function redactMessage(message: AssistantMessage, redactor: Redactor): AssistantMessage {
  const reasoning = message.reasoning === undefined ? undefined : redactor.text(message.reasoning);
  // A signature vouches for the exact reasoning text, so it goes when that text had to change.
  const signature = reasoning === message.reasoning ? message.reasoningSignature : undefined;
  return {
    role: 'assistant',
    content: redactor.text(message.content),
    ...(reasoning !== undefined && { reasoning }),
    ...(signature !== undefined && { reasoningSignature: signature }),
    ...(message.origin !== undefined && { origin: message.origin }),
    ...(message.toolCalls?.length && {
      toolCalls: message.toolCalls.map((call) => ({ ...call, arguments: redactor.json(call.arguments) })),
    }),
  };
}

/** Reported usage, or an estimate marked as such. */
export function usageOf(response: ModelResponse, inputTokens: number): Usage {
  return response.usage ?? { input: inputTokens, output: estimateMessage(response.message), estimated: true };
}

interface CallFacts {
  readonly purpose: 'main' | 'side';
  readonly model: string;
  /** Undefined where the price of the model is not known. */
  readonly costMicroUsd: number | undefined;
}

/** The journal record of what a call cost. */
export function usageRecord(state: RunState, usage: Usage, { purpose, model, costMicroUsd }: CallFacts): JournalRecord {
  return {
    kind: 'usage',
    run: state.runId,
    provider: state.deps.provider.name,
    model,
    purpose,
    usage,
    ...(costMicroUsd !== undefined && { costMicroUsd }),
  };
}

function speedOf(state: RunState, usage: Usage, startedAt: number, firstDeltaAt: number | undefined): CallSpeed {
  const duration = state.deps.clock.monotonic() - startedAt;
  const ttft = firstDeltaAt === undefined ? undefined : firstDeltaAt - startedAt;
  const generation = ttft === undefined ? undefined : duration - ttft;
  state.llmMs += duration;
  state.llmOutputTokens += usage.output;
  return measured({
    call_duration_ms: Math.round(duration),
    ttft_ms: ttft === undefined ? undefined : Math.round(ttft),
    generation_ms: generation === undefined ? undefined : Math.round(generation),
    call_input_tokens: usage.input,
    call_output_tokens: usage.output,
    tokens_per_second: tokensPerSecond(usage.output, duration),
    generation_tokens_per_second: generation === undefined ? undefined : tokensPerSecond(usage.output, generation),
  });
}

/** A reply that broke off was paid for: it is booked, and its record goes with whatever is stored next. */
function bookBrokenReply(state: RunState, reservation: ModelReservation, usage: Usage): void {
  const costMicroUsd = reservation.settle(usage);
  void state.journal.defer([usageRecord(state, usage, { purpose: 'main', model: state.settings.model, costMicroUsd })]);
}

/** Asks the model once. Reserves the budget before, settles it after, and stores nothing. */
export async function think(state: RunState): Promise<Thought> {
  const { deps, settings, budget, transcript } = state;
  const inputTokens = transcript.tokens + estimateRequest([], deps.tools.definitions());
  const wish = settings.maxTokens ?? deps.provider.limits(settings.model).maxOutputTokens ?? UNKNOWN_OUTPUT_CAP;
  const reservation = budget.reserveModelCall({ inputTokens, maxOutputTokens: wish });
  const maxTokens = reservation.maxOutputTokens < wish ? reservation.maxOutputTokens : settings.maxTokens;
  const startedAt = deps.clock.monotonic();
  const heard: Heard = { firstDeltaAt: undefined, characters: 0 };
  let response: ModelResponse;
  try {
    response = await listenWithout(state, maxTokens, heard);
  } catch (error) {
    if (heard.characters === 0) reservation.release();
    else bookBrokenReply(state, reservation, { input: inputTokens, output: Math.ceil(heard.characters / 4), estimated: true });
    throw error;
  }
  const usage = usageOf(response, inputTokens);
  const costMicroUsd = reservation.settle(usage);
  if (!usage.estimated) state.lastCall = { estimated: inputTokens, reported: countInput(usage) };
  const calls = state.callIds.distinct(withSafeNames(response.message.toolCalls ?? [], deps.tools, deps.redactor), state.iteration);
  const message = redactMessage({ ...signed(response.message, deps.provider.name), toolCalls: calls }, deps.redactor);
  return {
    message,
    calls,
    finish: response.finish,
    speed: speedOf(state, usage, startedAt, heard.firstDeltaAt),
    records: [
      { kind: 'message', run: state.runId, iteration: state.iteration, message },
      usageRecord(state, usage, { purpose: 'main', model: settings.model, costMicroUsd }),
    ],
  };
}
