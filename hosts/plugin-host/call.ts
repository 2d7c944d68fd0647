import type { CallServices } from '../../core/agent/attached-services.ts';
import type { Owned } from './parts.ts';

/** A tool call that is running in a host, as its ticket stands for it. */
export interface CallInHost {
  readonly owned: Owned;
  readonly tool: string;
  /** Absent: the call has no gate behind it. */
  readonly services: CallServices | undefined;
  /** Fires when the call is over for whatever reason, or the plugin is. */
  readonly signal: AbortSignal;
  /** Stops the call's clock. */
  hold(): () => void;
}
