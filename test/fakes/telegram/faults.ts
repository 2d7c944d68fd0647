import type { ServerResponse } from 'node:http';

/** What the service answers instead of doing what it was asked. */
export type TelegramFault =
  | { readonly kind: 'error'; readonly code: number; readonly description: string; readonly retryAfter?: number }
  /** Breaks the connection off: before anything was done, or after it was. */
  | { readonly kind: 'drop'; readonly done?: boolean }
  /** Does it, and answers so much later. */
  | { readonly kind: 'slow'; readonly ms: number }
  /** Answers something that is no JSON. */
  | { readonly kind: 'garbage'; readonly status?: number };

export const tooManyRequests = (retryAfter: number): TelegramFault => ({
  kind: 'error',
  code: 429,
  description: `Too Many Requests: retry after ${retryAfter}`,
  retryAfter,
});

export const badGateway: TelegramFault = { kind: 'error', code: 502, description: 'Bad Gateway' };

export const blocked: TelegramFault = { kind: 'error', code: 403, description: 'Forbidden: bot was blocked by the user' };

/** A refusal, in the service's form. */
export class Refusal extends Error {
  readonly code: number;
  readonly parameters: { readonly retry_after?: number; readonly migrate_to_chat_id?: number };

  constructor(code: number, description: string, parameters: Refusal['parameters'] = {}) {
    super(description);
    this.code = code;
    this.parameters = parameters;
  }
}

export const badRequest = (what: string): Refusal => new Refusal(400, `Bad Request: ${what}`);

export function sendResult(outgoing: ServerResponse, result: unknown): void {
  outgoing.writeHead(200, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ ok: true, result }));
}

export function sendRefusal(outgoing: ServerResponse, { code, message, parameters }: Refusal): void {
  outgoing.writeHead(code, { 'content-type': 'application/json' });
  outgoing.end(JSON.stringify({ ok: false, error_code: code, description: message, parameters }));
}
