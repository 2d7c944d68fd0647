import { ConfigError } from '../../../ports/errors.ts';

/** What odek uses of node-llama-cpp, which need not be installed. */
export interface LlamaModule {
  getLlama(options?: { readonly gpu?: boolean }): Promise<Llama>;
  readonly LlamaChat: new (options: { readonly contextSequence: LlamaSequence }) => LlamaChat;
}

export interface Llama {
  loadModel(options: { readonly modelPath: string }): Promise<LlamaModel>;
  dispose(): Promise<void>;
}

export interface LlamaModel {
  createContext(options: { readonly contextSize?: number }): Promise<LlamaContext>;
}

export interface LlamaContext {
  readonly contextSize: number;
  getSequence(): LlamaSequence;
}

export interface LlamaSequence {
  readonly tokenMeter: { readonly usedInputTokens: number; readonly usedOutputTokens: number };
}

export type LlamaHistoryItem =
  | { readonly type: 'system' | 'user'; readonly text: string }
  | { readonly type: 'model'; readonly response: readonly LlamaResponsePart[] };

export type LlamaResponsePart =
  | string
  | { readonly type: 'segment'; readonly segmentType: 'thought'; readonly text: string; readonly ended: true }
  | {
      readonly type: 'functionCall';
      readonly name: string;
      readonly params: object;
      readonly result: unknown;
      readonly startsNewChunk?: boolean;
    };

export interface LlamaChunk {
  readonly type?: 'segment' | undefined;
  readonly text: string;
}

export interface LlamaGeneration {
  readonly signal: AbortSignal;
  readonly functions?: Readonly<Record<string, { readonly description?: string; readonly params?: object }>>;
  readonly documentFunctionParams?: boolean;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly budgets?: { readonly thoughtTokens: number };
  readonly contextShift?: { readonly strategy: () => never };
  onResponseChunk(chunk: LlamaChunk): void;
}

export interface LlamaResult {
  readonly functionCalls?: readonly { readonly functionName: string; readonly params: unknown }[] | undefined;
  readonly metadata: { readonly stopReason: string };
}

export interface LlamaChat {
  generateResponse(history: readonly LlamaHistoryItem[], options: LlamaGeneration): Promise<LlamaResult>;
}

export type LoadLlama = () => Promise<LlamaModule>;

const PACKAGE: string = 'node-llama-cpp';

/** The command that brings the package to where this odek looks for it. */
function installCommand(): string {
  const isGlobal = /[/\\]lib[/\\]node_modules[/\\]odek[/\\]/.test(import.meta.filename);
  return `npm install ${isGlobal ? '-g ' : ''}${PACKAGE}`;
}

/** Loads the package. Throws `ConfigError` `package_missing` that says how to install it. */
export const loadInstalled: LoadLlama = async () => {
  try {
    return (await import(PACKAGE)) as LlamaModule;
  } catch (cause) {
    throw new ConfigError('package_missing', `a model file needs the package ${PACKAGE}. Run: ${installCommand()}`, {
      value: PACKAGE,
      cause,
    });
  }
};
