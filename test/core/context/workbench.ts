import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { createCallIds } from '../../../core/agent/call-ids.ts';
import { createJournal } from '../../../core/agent/journal.ts';
import type { AgentSettings } from '../../../core/agent/settings.ts';
import type { Stage } from '../../../core/agent/stage.ts';
import type { RunState } from '../../../core/agent/state.ts';
import { createBudget } from '../../../core/budget/budget.ts';
import { estimateRequest } from '../../../core/budget/estimate.ts';
import { createContextStage } from '../../../core/context/stage.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import { callKey, foldJournal } from '../../../core/transcript/fold.ts';
import { createTranscript } from '../../../core/transcript/transcript.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { RunEventBody } from '../../../ports/event.ts';
import type { LlmProvider } from '../../../ports/llm.ts';
import type { Message, ToolOutcome } from '../../../ports/message.ts';
import type { JournalRecord, SlotName, StoredRecord } from '../../../ports/session.ts';
import { createMemoryFileSystem } from '../../fakes/file-system.ts';
import { createSequentialIds } from '../../fakes/ids.ts';
import { createScriptedProvider, type ScriptedReply } from '../../fakes/llm.ts';
import { createMemorySessionStore } from '../../fakes/session-store.ts';

export interface ScriptedCall {
  readonly name: string;
  readonly arguments?: object;
  readonly result: string;
  readonly outcome?: ToolOutcome;
}

export interface WorkbenchOptions {
  /** Absent: unknown. */
  readonly window?: number;
  readonly compaction?: boolean;
  /** What the model answers to side calls; without it they fail. */
  readonly digests?: ScriptedReply;
  readonly provider?: LlmProvider;
  readonly clock?: Clock;
  readonly settings?: Partial<AgentSettings>;
  readonly stages?: readonly Stage[];
}

/** The context stage on a real transcript and journal, with the loop's steps done by hand. */
export interface Workbench {
  readonly state: RunState;
  readonly stage: Stage;
  readonly events: RunEventBody[];
  messages(): readonly Message[];
  /** Estimated tokens of the next request. */
  tokens(): number;
  say(message: Exclude<Message, { role: 'tool' }>): Promise<void>;
  batch(calls: readonly ScriptedCall[], text?: string): Promise<void>;
  slot(name: SlotName, content: string | undefined): Promise<void>;
  /** What a new iteration does before it asks the model. */
  think(): Promise<void>;
  journal(): Promise<readonly StoredRecord[]>;
  /** What a process that takes the session up would send. */
  resumed(): Promise<readonly Message[]>;
  /** Goes on as a new process would: another stage on the folded journal. */
  restart(): Promise<Workbench>;
}

const SESSION = '20260101-00000000000000000000000000000001';

const SETTINGS: AgentSettings = {
  model: 'test-model',
  systemPrompt: '',
  workspace: '/work',
  maxIterations: 100,
  maxToolParallel: 4,
  toolTimeoutMs: 1_000,
  approvalTimeoutMs: 1_000,
  sideCallTimeoutMs: 1_000,
  stream: true,
  limits: {},
  prices: {},
  danger: { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' },
  sandbox: false,
};

export async function createWorkbench(options: WorkbenchOptions = {}): Promise<Workbench> {
  const clock = options.clock ?? createSystemClock();
  const store = createMemorySessionStore({ clock });
  const session = await store.create({
    id: SESSION,
    title: '',
    provider: 'scripted',
    model: 'test-model',
    workspace: '/work',
    listed: true,
    externalRefs: [],
  });
  const limits = options.window === undefined ? {} : { contextWindow: options.window };
  const provider = options.provider ?? createScriptedProvider(options.digests ?? { error: new Error('no model') }, { limits });
  const settings = { ...SETTINGS, ...(options.compaction !== undefined && { compaction: options.compaction }), ...options.settings };
  const ids = createSequentialIds();
  const read = async (): Promise<readonly StoredRecord[]> => (await store.read(SESSION)).records;

  const build = (records: readonly StoredRecord[], run: string): Workbench => {
    const events: RunEventBody[] = [];
    const transcript = createTranscript(foldJournal(records));
    const stage = createContextStage(settings);
    const state: RunState = {
      deps: {
        provider,
        tools: createToolRegistry(),
        validator: createSchemaValidator(),
        fs: createMemoryFileSystem(),
        clock,
        ids,
        hash: createSha256(),
        redactor: createRedactor([]),
        emit: () => {},
      },
      settings,
      runId: run,
      sessionId: SESSION,
      transcript,
      callIds: createCallIds([]),
      journal: createJournal(session),
      budget: createBudget({ limits: settings.limits, prices: settings.prices, clock, model: settings.model }),
      emit: (event) => events.push(event),
      stages: [...(options.stages ?? []), stage],
      signal: new AbortController().signal,
      startedAt: clock.monotonic(),
      iteration: 0,
      llmMs: 0,
      llmOutputTokens: 0,
    };
    return {
      state,
      stage,
      events,
      messages: () => [...transcript.messages],
      tokens: () => estimateRequest(transcript.messages, []),
      say: async (message) => {
        const seq = await state.journal.append([{ kind: 'message', run, iteration: state.iteration, message }]);
        transcript.push(message, seq);
      },
      batch: (calls, text = '') => batch(state, calls, text),
      slot: async (name, content) => {
        transcript.setSlot(name, content);
        await state.journal.append([{ kind: 'slot', name, content: content ?? null }]);
      },
      think: async () => {
        state.iteration += 1;
        await stage.beforeThink?.(state);
      },
      journal: read,
      resumed: async () => [...createTranscript(foldJournal(await read())).messages],
      restart: async () => {
        stage.end?.();
        return build(await read(), `${run}r`);
      },
    };
  };
  return build([], 'r');
}

async function batch(state: RunState, calls: readonly ScriptedCall[], content: string): Promise<void> {
  // One iteration has one assistant message: its calls are keyed by it.
  state.iteration += 1;
  const { runId: run, iteration } = state;
  const toolCalls = calls.map(({ name, arguments: args = {} }, index) => ({
    id: `${run}-${iteration}-${index}`,
    name,
    arguments: JSON.stringify(args),
  }));
  const message: Message = { role: 'assistant', content, toolCalls };
  const results = calls.map(({ name, result, outcome = 'completed' }, index): Extract<Message, { role: 'tool' }> => {
    return { role: 'tool', callId: `${run}-${iteration}-${index}`, name, content: result, outcome };
  });
  const finished = results.map((result, index): JournalRecord => {
    return { kind: 'tool_finished', key: callKey(run, iteration, index), message: result, durationMs: 1 };
  });
  const seq = await state.journal.append([{ kind: 'message', run, iteration, message }, ...finished]);
  state.transcript.push(message, seq);
  for (const [index, result] of results.entries()) state.transcript.push(result, seq + 1 + index);
}

/** Every result right behind its assistant message, one for each call, in call order. */
export function isWellFormed(messages: readonly Message[]): boolean {
  for (let at = 0; at < messages.length; at += 1) {
    const message = messages[at];
    if (message?.role === 'tool') return false;
    if (message?.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) {
      at += 1;
      const result = messages[at];
      if (result?.role !== 'tool' || result.callId !== call.id) return false;
    }
  }
  return true;
}
