import type { Approver, DangerPolicy } from '../../ports/approval.ts';
import type { AuditStore } from '../../ports/audit.ts';
import type { BudgetLimits, Prices } from '../../ports/budget.ts';
import type { Clock } from '../../ports/clock.ts';
import type { RunEvent } from '../../ports/event.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Hash } from '../../ports/hash.ts';
import type { Ids } from '../../ports/ids.ts';
import type { LlmProvider, ThinkingLevel } from '../../ports/llm.ts';
import type { SchemaValidator } from '../../ports/schema.ts';
import type { SessionWriter } from '../../ports/session.ts';
import type { ShellGrammar } from '../../ports/shell-grammar.ts';
import type { JobDesk } from '../jobs/desk.ts';
import type { PlanDesk } from '../plan/desk.ts';
import type { ToolRegistry } from '../plugins/registry.ts';
import type { Redactor } from '../redact/redactor.ts';
import type { PluginPrompt, PreExecute } from './plugin-seams.ts';

/** The verification pass, chosen by the operator alone. */
export interface VerifySettings {
  /** `hint`: a failing answer goes back to the model. `strict`: it is shipped, marked, at once. */
  readonly mode: 'hint' | 'strict';
  /** Another model of the same provider judges; the run's own when absent. */
  readonly model?: string;
  /** Answers that may be sent back in a run, 1 to 3. */
  readonly maxCycles: number;
  /** Output tokens of a verdict. */
  readonly maxTokens: number;
}

/** What a run is made with. All of it is live objects behind ports; core makes none of them. */
export interface AgentDeps {
  /** Guarded by the caller (`core/guards/provider.ts`). */
  readonly provider: LlmProvider;
  readonly tools: ToolRegistry;
  readonly validator: SchemaValidator;
  readonly fs: FileSystem;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly hash: Hash;
  readonly redactor: Redactor;
  /** Reads command lines, so that they can be judged. Absent: every command is `unknown`. */
  readonly shell?: ShellGrammar;
  /** Absent: nobody can answer, and `danger.nonInteractive` decides. */
  readonly approver?: Approver;
  /** Absent: there are no background jobs. */
  readonly jobs?: JobDesk;
  /** Absent: no audit is kept. */
  readonly audit?: AuditStore;
  /** Absent: planning is off. */
  readonly plans?: PlanDesk;
  /** Whether the declared effects of an owner's tools are believed as evidence. Absent: nobody's are. */
  isFirstParty?(owner: string): boolean;
  /** Whether an owner's tools are a third party's: what they declare is shown, and each call is asked about. Absent: nobody's are. */
  isForeign?(owner: string): boolean;
  /** What of a third party is at work, down to the bytes that were reviewed: a person's trust does not go beyond it. Absent: the owner. */
  foreignBuild?(owner: string): string | undefined;
  /** Code that looks at each call before it is judged. Absent: there is none. */
  readonly preExecute?: PreExecute;
  /** Text of plugins for the model. Absent: there is none. */
  readonly pluginPrompt?: PluginPrompt;
  /** Gets every event in order. A listener that throws harms nobody. */
  emit(event: RunEvent): void;
}

/** Plain data a run is made with. Durations are in milliseconds. */
export interface AgentSettings {
  readonly model: string;
  /** Used when a session begins; a continued session keeps its own. */
  readonly systemPrompt: string;
  readonly workspace: string;
  /** 1 or more. */
  readonly maxIterations: number;
  /** 1 or more. */
  readonly maxToolParallel: number;
  readonly toolTimeoutMs: number;
  readonly approvalTimeoutMs: number;
  readonly sideCallTimeoutMs: number;
  readonly stream: boolean;
  readonly thinking?: ThinkingLevel;
  readonly temperature?: number;
  readonly maxTokens?: number;
  readonly limits: BudgetLimits;
  readonly prices: Prices;
  readonly danger: DangerPolicy;
  /** The user's home, absolute; absent: `~` in a command is a place that nobody knows. */
  readonly home?: string;
  /** Folders for files of the moment, absolute; `/tmp` and `/var/tmp` when absent. */
  readonly tempDirs?: readonly string[];
  /** `host:port` entries on this machine or in its network that the operator admitted. */
  readonly reachableHosts?: readonly string[];
  readonly sandbox: boolean;
  /** Keep a digest of what no longer fits the model's window. Absent: yes. */
  readonly compaction?: boolean;
  /** Tell the model at 50, 75 and 90 % of what is used most. Absent: yes. */
  readonly announceBudget?: boolean;
  /** Absent: answers are not verified. */
  readonly verify?: VerifySettings;
}

/** One run of an agent. */
export interface RunInput {
  /** The open session the run is journalled in. The run does not close it. */
  readonly session: SessionWriter;
  /** The new user turn. Absent: go on where an interrupted run stopped. */
  readonly task?: string;
  /** The turn as the user wrote it, where `task` has content of files put into it; the session's title comes from it. */
  readonly originalTask?: string;
  /** 32 hex digits, where the caller has to know the run's id before it begins. Absent: a new one. */
  readonly runId?: string;
  readonly signal: AbortSignal;
}
