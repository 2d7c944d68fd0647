/** A bot of Telegram: odek's {@link ChatBot} over grammY's calls of the Bot API. */
import type { Api, ApiClientOptions } from 'grammy';
import { type ChatBot, ChatError } from '../../ports/chat.ts';
import type { Clock } from '../../ports/clock.ts';
import { ConfigError, DeadlineError } from '../../ports/errors.ts';
import type { HttpClient, HttpResponse } from '../../ports/http.ts';
import { type ApiFault, inAttempts } from './attempts.ts';
import type { ApiSignal, Caller, FilePlace } from './call.ts';
import { faultOf, type Mask } from './errors.ts';
import { createFeed } from './feed.ts';
import { createFetch } from './fetch.ts';
import { createFiles } from './files.ts';
import { createMessages } from './messages.ts';

export interface TelegramOptions {
  /** As the operator got it: digits, a colon, 30 or more characters. */
  readonly token: string;
  /** Root addresses of Bot API servers, the first is preferred; checked by {@link apiRoots}. */
  readonly roots: readonly string[];
  /** Reaches the hosts of `roots` and no other. Closed with the bot. */
  readonly http: HttpClient;
  readonly clock: Clock;
  /** Milliseconds of each attempt, but for polls and uploads; 60 s unless told. */
  readonly attemptMs?: number;
}

const LIMIT_MS = 60_000;
/** For the whole of a file. */
const TRANSFER_MS = 300_000;
const TOKEN = /^\d{1,20}:[\w-]{10,100}$/;

function checkToken(token: string): void {
  if (TOKEN.test(token)) return;
  throw new ConfigError('invalid_bot_token', 'the bot token must be digits, a colon and letters, as the BotFather gives it', {
    limit: '<digits>:<letters, digits, _ and ->',
  });
}

const isLoopback = (url: URL): boolean => /^(127\.\d+\.\d+\.\d+|\[::1\]|localhost)$/.test(url.hostname);
const isTelegram = (url: URL): boolean => url.protocol === 'https:' && /(^|\.)telegram\.org$/.test(url.hostname);

function rootOf(key: string, text: string, ok: (url: URL) => boolean, limit: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  if (url === null || !isPlain || !/^https?:$/.test(url.protocol) || !ok(url)) {
    throw new ConfigError('invalid_api_root', `${key} must be ${limit}; got ${JSON.stringify(text.slice(0, 200))}`, {
      value: text.slice(0, 200),
      limit,
    });
  }
  return url.href.replace(/\/+$/, '');
}

/**
 * The addresses of a bot's servers: `apiRoot` is any that the operator wants, a fallback is one of Telegram's own or on
 * this machine, because it gets the token without being asked for.
 *
 * @throws {ConfigError} `invalid_api_root`
 */
export function apiRoots(apiRoot: string, fallbackUrls: readonly string[]): readonly string[] {
  const first = rootOf('telegram.api_root', apiRoot, () => true, 'an http or https address without a user, a query or a fragment');
  const others = fallbackUrls.map((each) =>
    rootOf(
      'telegram.fallback_urls',
      each,
      (url) => isTelegram(url) || isLoopback(url),
      'https addresses of telegram.org, or of this machine',
    ),
  );
  return [...new Set([first, ...others])];
}

/**
 * Loads grammY and makes a bot. Nothing is sent yet.
 *
 * @throws {ConfigError} `invalid_bot_token`
 */
export async function openTelegram({ token, roots, http, clock, attemptMs = LIMIT_MS }: TelegramOptions): Promise<ChatBot> {
  checkToken(token);
  // The one for Node brings an HTTP client of its own, which is not used here and warns when it is loaded.
  const { Api: GrammyApi, InputFile } = await import('grammy/web');
  const secret = token.slice(token.indexOf(':') + 1);
  const mask: Mask = (text) => text.replaceAll(token, '<token>').replaceAll(secret, '<token>');
  let current = 0;
  const root = (): string => roots[current % roots.length] ?? '';
  const api = new GrammyApi(token, {
    apiRoot: roots[0] ?? '',
    buildUrl: (_, secretToken, method) => `${root()}/bot${secretToken}/${method}`,
    fetch: createFetch(http) as unknown as NonNullable<ApiClientOptions['fetch']>,
  });

  const attempt = async <T>(act: (raw: Api['raw'], signal: ApiSignal) => Promise<T>, signal: AbortSignal, limitMs: number): Promise<T> => {
    const deadline = AbortSignal.timeout(limitMs);
    try {
      return await act(api.raw, AbortSignal.any([signal, deadline]) as unknown as ApiSignal);
    } catch (error) {
      if (!deadline.aborted) throw error;
      throw new DeadlineError(`no whole answer came within ${limitMs} ms`, { limit: limitMs });
    }
  };
  /** Another address may answer where this one did not. */
  const judge = (method: string, error: unknown): ApiFault => {
    const fault = faultOf(method, error, mask);
    if (fault.network) current = (current + 1) % roots.length;
    return fault;
  };
  const call: Caller = (method, act, { signal, once = false, limitMs = attemptMs }) =>
    inAttempts({ clock, signal, once, attempt: () => attempt(act, signal, limitMs), judge: (error) => judge(method, error) });
  const place: FilePlace = {
    mask,
    async get(path, signal) {
      const ended = AbortSignal.any([signal, AbortSignal.timeout(TRANSFER_MS)]);
      const fetchFile = async (): Promise<HttpResponse> => {
        const response = await http.request(
          { method: 'GET', url: `${root()}/file/bot${token}/${path}`, headers: {}, headersTimeoutMs: attemptMs },
          ended,
        );
        if (response.status === 200) return response;
        response.cancel();
        const code = response.status === 404 ? 'chat_not_found' : 'chat_service';
        throw new ChatError(code, `the Bot API answered ${response.status} for the file`, { value: response.status });
      };
      const { value } = await inAttempts({ clock, signal, once: false, attempt: fetchFile, judge: (error) => judge('a file', error) });
      return value;
    },
  };
  return {
    feed: createFeed(call),
    messages: createMessages(call),
    files: createFiles(call, place, (bytes, name) => new InputFile(bytes, name)),
    close: () => http.close(),
  };
}
