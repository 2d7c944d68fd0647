import type { RunEventBody } from '../../ports/event.ts';
import type { AgentDeps, AgentSettings } from './settings.ts';

/** What one call needs to know of whatever it belongs to. The state of a run is one. */
export interface CallScope {
  readonly deps: Pick<AgentDeps, 'clock' | 'fs' | 'hash' | 'ids' | 'redactor' | 'shell' | 'isForeign' | 'foreignBuild'>;
  readonly settings: Pick<AgentSettings, 'danger' | 'workspace' | 'toolTimeoutMs' | 'home' | 'tempDirs' | 'reachableHosts'>;
  readonly runId: string;
  /** Whose ledger of read files counts. */
  readonly sessionId: string;
  /** Cancels the call. */
  readonly signal: AbortSignal;
  readonly iteration: number;
  /** What a tool threw that is no error of its own is not told. Absent: it is told, so that the model can go another way. */
  readonly hidesPanics?: boolean;
  emit(event: RunEventBody): void;
}
