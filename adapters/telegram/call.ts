import type { Api } from 'grammy';
import type { HttpResponse } from '../../ports/http.ts';
import type { Mask } from './errors.ts';

/** grammY's type of an abort signal is another package's. */
export type ApiSignal = Parameters<Api['raw']['getMe']>[0];

export interface Call {
  readonly signal: AbortSignal;
  /** Tried once. */
  readonly once?: boolean;
  /** Milliseconds of each attempt; 60 s unless told. */
  readonly limitMs?: number;
}

/** Calls a method of the Bot API, in attempts. Rejects with {@link ChatError} or `CancelledError`. */
export type Caller = <T>(
  method: string,
  act: (raw: Api['raw'], signal: ApiSignal) => Promise<T>,
  call: Call,
) => Promise<{ readonly value: T; readonly repeat: boolean }>;

/** Where files are fetched from. */
export interface FilePlace {
  /** In attempts. `path` is safe to put into an address. Rejects with {@link ChatError} or `CancelledError`. */
  get(path: string, signal: AbortSignal): Promise<HttpResponse>;
  readonly mask: Mask;
}
