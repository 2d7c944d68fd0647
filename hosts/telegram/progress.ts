import type { RunEvent } from '../../ports/event.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { Base } from './base.ts';
import type { Place } from './rooms.ts';
import { plain } from './talk.ts';

export type ProgressMode = ResolvedConfig['telegram']['progress'];

/** What a person sees while a run works. None of it rejects. */
export interface Progress {
  onEvent(event: RunEvent): void;
  /** Something was sent below: what comes next is a message of its own. */
  renew(): void;
  end(): Promise<void>;
}

/** Says that work begins and shows it from then on. */
export type OpenProgress = (place: Place, mode: ProgressMode, replyTo?: number) => Progress;

export function openProgressOf({ talk }: Base): OpenProgress {
  return (place, mode) => {
    if (mode !== 'off') void talk.post(place, plain('🤔 Looking into that...'), { silent: true });
    return { onEvent() {}, renew() {}, async end() {} };
  };
}
