import { access } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { AdapterServices } from '../../ports/adapter.ts';
import { defineAdapter } from '../../ports/adapter.ts';
import { CancelledError, ConfigError, isOdekError } from '../../ports/errors.ts';
import type { LlmProvider, ModelEvent, ModelRequest, ThinkingLevel } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';
import { toFunctions, toHistory } from './local/history.ts';
import type { LlamaChat, LlamaModule, LlamaResult, LlamaSequence, LoadLlama } from './local/module.ts';
import { loadInstalled } from './local/module.ts';
import { readOptions } from './options.ts';
import { nameCalls } from './wire/call-ids.ts';
import { createEventQueue } from './wire/event-queue.ts';

const NAME = 'local';

/** A GGUF file that runs inside this process, by the package node-llama-cpp. */
export default defineAdapter({
  port: 'llm-provider',
  name: NAME,
  create: (options, services) => createLocalProvider(options, services, loadInstalled),
});

interface LocalOptions {
  readonly modelPath: string;
  /** Tokens; the package chooses by model and memory when absent. */
  readonly contextSize: number | undefined;
  /** False stays on the processor. */
  readonly gpu: boolean;
}

/** Tokens of thinking for each level; a level that is absent leaves the choice to the package. */
const THOUGHTS: Readonly<Record<ThinkingLevel, number>> = {
  disabled: 0,
  low: 1_024,
  medium: 4_096,
  high: Number.POSITIVE_INFINITY,
};

async function parseLocalOptions(options: Readonly<Record<string, unknown>>): Promise<LocalOptions> {
  const read = readOptions('provider "local"', options, ['model_path', 'context_size', 'gpu']);
  const modelPath = read.requiredText('model_path');
  if (!isAbsolute(modelPath)) throw read.fail('model_path', modelPath, 'an absolute path of a GGUF file');
  try {
    await access(modelPath);
  } catch (cause) {
    throw new ConfigError('model_file_missing', `provider "local": there is no file ${modelPath}`, { value: modelPath, cause });
  }
  return { modelPath, contextSize: read.count('context_size', 256, 10_000_000), gpu: read.flag('gpu') ?? true };
}

interface LoadedModel {
  readonly chat: LlamaChat;
  readonly sequence: LlamaSequence;
  readonly contextSize: number;
  dispose(): Promise<void>;
}

async function loadModel(module: LlamaModule, { modelPath, contextSize, gpu }: LocalOptions): Promise<LoadedModel> {
  const llama = await module.getLlama(gpu ? {} : { gpu: false });
  const model = await llama.loadModel({ modelPath });
  const context = await model.createContext(contextSize === undefined ? {} : { contextSize });
  const sequence = context.getSequence();
  const chat = new module.LlamaChat({ contextSequence: sequence });
  return { chat, sequence, contextSize: context.contextSize, dispose: () => llama.dispose() };
}

/** The weights are loaded with the first call. Throws `ConfigError` when the file or the package is not there. */
export async function createLocalProvider(
  raw: Readonly<Record<string, unknown>>,
  _services: AdapterServices,
  load: LoadLlama,
): Promise<LlmProvider> {
  const options = await parseLocalOptions(raw);
  const module = await load();
  let loading: Promise<LoadedModel> | undefined;
  let window = options.contextSize;
  // One sequence writes one answer at a time.
  let turn: Promise<unknown> = Promise.resolve();

  const loaded = async (): Promise<LoadedModel> => {
    loading ??= loadModel(module, options);
    const model = await loading;
    window = model.contextSize;
    return model;
  };
  async function* stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    if (signal.aborted) throw new CancelledError();
    const queue = createEventQueue<ModelEvent>();
    const work = turn.then(async () => {
      if (signal.aborted) throw new CancelledError();
      const model = await loaded();
      return answer(model, request, signal, queue.push);
    });
    turn = work.catch(() => undefined);
    work.then(
      (response) => queue.end(response),
      (error: unknown) => queue.fail(toProviderError(error, signal)),
    );
    yield* queue.events(signal);
  }
  return {
    name: NAME,
    stream,
    limits: () => (window === undefined ? {} : { contextWindow: window }),
    models: async () => [{ id: options.modelPath.replace(/^.*[\\/]/, ''), ...(window === undefined ? {} : { contextWindow: window }) }],
    async close() {
      const model = await loading?.catch(() => undefined);
      loading = undefined;
      await model?.dispose();
    },
  };
}

async function answer(
  { chat, sequence, contextSize }: LoadedModel,
  request: ModelRequest,
  signal: AbortSignal,
  tell: (event: ModelEvent) => void,
): Promise<ModelEvent> {
  const before = { input: sequence.tokenMeter.usedInputTokens, output: sequence.tokenMeter.usedOutputTokens };
  let text = '';
  let reasoning = '';
  const functions = toFunctions(request.tools);
  const result = await chat.generateResponse(toHistory(request.messages, NAME), {
    signal,
    ...(functions === undefined ? {} : { functions, documentFunctionParams: true }),
    ...(request.maxTokens === undefined ? {} : { maxTokens: request.maxTokens }),
    ...(request.temperature === undefined ? {} : { temperature: request.temperature }),
    ...(request.thinking === undefined ? {} : { budgets: { thoughtTokens: THOUGHTS[request.thinking] } }),
    // The package would forget the oldest turns by itself; what may be forgotten is not its decision.
    contextShift: {
      strategy: () => {
        throw tooLong(contextSize);
      },
    },
    onResponseChunk(chunk) {
      if (chunk.text === '') return;
      if (chunk.type === 'segment') reasoning += chunk.text;
      else text += chunk.text;
      tell({ type: chunk.type === 'segment' ? 'reasoning_delta' : 'text_delta', text: chunk.text });
    },
  });
  const { usedInputTokens, usedOutputTokens } = sequence.tokenMeter;
  return {
    ...responseOf(result, { text, reasoning }, request),
    // What the model had read before is not read, and so not counted, again.
    usage: { input: usedInputTokens - before.input, output: usedOutputTokens - before.output, estimated: false },
  };
}

type Response = Extract<ModelEvent, { type: 'response' }>;

function responseOf(result: LlamaResult, told: { readonly text: string; readonly reasoning: string }, request: ModelRequest): Response {
  const drafts = (result.functionCalls ?? []).map(({ functionName, params }) => ({
    id: '',
    name: functionName,
    arguments: JSON.stringify(params ?? {}),
  }));
  const isCut = result.metadata.stopReason === 'maxTokens';
  return {
    type: 'response',
    message: {
      role: 'assistant',
      content: told.text,
      ...(told.reasoning === '' ? {} : { reasoning: told.reasoning }),
      ...(drafts.length === 0 ? {} : { toolCalls: nameCalls(drafts, true, request) }),
    },
    finish: isCut ? 'length' : drafts.length > 0 ? 'tool_calls' : 'stop',
  };
}

function tooLong(limit: number): ProviderError {
  return new ProviderError('context_length', `local: the conversation does not fit into the model's ${limit} tokens`, { limit });
}

function toProviderError(error: unknown, signal: AbortSignal): Error {
  if (signal.aborted) return error instanceof CancelledError ? error : new CancelledError('cancelled', { cause: error });
  if (isOdekError(error)) return error;
  const text = error instanceof Error ? error.message : String(error);
  if (/context size|compress chat history/i.test(text)) return new ProviderError('context_length', `local: ${text}`, { cause: error });
  return new ProviderError('provider_unavailable', `local: ${text}`, { cause: error });
}
