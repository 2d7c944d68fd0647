import { setTimeout as delay } from 'node:timers/promises';
import type { LlamaChunk, LlamaGeneration, LlamaHistoryItem, LlamaModule } from '../../adapters/llm/local/module.ts';

/** What the fake model writes. */
export interface LlamaAnswer {
  readonly reasoning?: readonly string[];
  readonly text?: readonly string[];
  readonly calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly stopReason?: string;
  readonly error?: Error;
  /** Never ends by itself. */
  readonly hang?: boolean;
  /** The conversation does not fit: the module asks what to forget. */
  readonly overflows?: boolean;
}

export interface FakeLlama extends LlamaModule {
  readonly histories: readonly (readonly LlamaHistoryItem[])[];
  readonly generations: readonly LlamaGeneration[];
  readonly loaded: readonly string[];
  readonly disposed: boolean;
}

/** A module of the shape of node-llama-cpp without any weights: plays `answers`, the last one again and again. */
export function createFakeLlama(...answers: readonly LlamaAnswer[]): FakeLlama {
  const histories: (readonly LlamaHistoryItem[])[] = [];
  const generations: LlamaGeneration[] = [];
  const loaded: string[] = [];
  const meter = { usedInputTokens: 0, usedOutputTokens: 0 };
  let disposed = false;
  return {
    histories,
    generations,
    loaded,
    get disposed() {
      return disposed;
    },
    async getLlama() {
      return {
        async loadModel({ modelPath }) {
          loaded.push(modelPath);
          return {
            createContext: async ({ contextSize = 4_096 }) => ({ contextSize, getSequence: () => ({ tokenMeter: meter }) }),
          };
        },
        async dispose() {
          disposed = true;
        },
      };
    },
    LlamaChat: class {
      async generateResponse(history: readonly LlamaHistoryItem[], options: LlamaGeneration) {
        const answer = answers[Math.min(histories.length, answers.length - 1)] ?? {};
        histories.push(history);
        generations.push(options);
        if (answer.hang === true) await delay(2 ** 31 - 1, undefined, { signal: options.signal, ref: false });
        if (answer.overflows === true) options.contextShift?.strategy();
        meter.usedInputTokens += 20;
        for (const chunk of chunksOf(answer)) {
          options.onResponseChunk(chunk);
          meter.usedOutputTokens += 1;
        }
        if (answer.error !== undefined) throw answer.error;
        const functionCalls = answer.calls?.map((call) => ({ functionName: call.name, params: JSON.parse(call.arguments) as unknown }));
        return {
          functionCalls,
          metadata: { stopReason: answer.stopReason ?? (functionCalls === undefined ? 'eogToken' : 'functionCalls') },
        };
      }
    },
  };
}

function chunksOf({ reasoning = [], text = [] }: LlamaAnswer): LlamaChunk[] {
  return [...reasoning.map((part) => ({ type: 'segment' as const, text: part })), ...text.map((part) => ({ type: undefined, text: part }))];
}
