import type { Message, ToolOutcome } from '../../ports/message.ts';
import type { ToolExecution } from '../../ports/plugin.ts';
import type { CoreCaller } from '../extensions/core-calls.ts';

/** A tool that a plugin's tool asks core to run. */
export interface CoreCallRequest {
  readonly name: string;
  readonly input: unknown;
  readonly caller: CoreCaller;
  readonly signal: AbortSignal;
  /** Told before a person may be asked; what it returns is called afterwards. */
  hold(): () => void;
}

/** How it ended. `refused`: nothing ran and nobody was asked. */
export interface CoreCallOutcome {
  readonly outcome: ToolOutcome | 'refused';
  /** The tool's text, redacted and bounded; or why not. */
  readonly text: string;
}

/**
 * What core does for a running call of a third party's tool, under the gate and the budget of its run.
 * After the call has ended everything here is refused, and what was under way has been cancelled.
 */
export interface CallServices {
  call(request: CoreCallRequest): Promise<CoreCallOutcome>;
  /** One completion of the run's own model; undefined where budget, model or time do not allow one. Rejects when cancelled. */
  complete(messages: readonly Message[], maxTokens: number, signal: AbortSignal): Promise<string | undefined>;
}

const attached = new WeakMap<ToolExecution, CallServices>();

/** The services of a running call. Only core attaches them, so a tool cannot bring its own. */
export function callServicesOf(exec: ToolExecution): CallServices | undefined {
  return attached.get(exec);
}

export function attachCallServices(exec: ToolExecution, services: CallServices): void {
  attached.set(exec, services);
}
