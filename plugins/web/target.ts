import { HttpError } from '../../ports/http.ts';

const MAX_URL_CHARS = 8192;

/** The URL that a call means, without its fragment, which is never sent. Throws {@link HttpError} `invalid_url`; its text holds no credentials. */
export function targetOf(text: string, base?: URL): URL {
  if (text.length > MAX_URL_CHARS) {
    throw new HttpError('invalid_url', `the URL has ${text.length} characters; at most ${MAX_URL_CHARS} are taken`, {
      value: text.length,
      limit: MAX_URL_CHARS,
    });
  }
  const url = URL.parse(text, base?.href);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new HttpError('invalid_url', 'the URL must be absolute and start with http:// or https://', { limit: 'http or https' });
  }
  if (url.username !== '' || url.password !== '') {
    throw new HttpError('invalid_url', `the URL of ${url.host} must not carry a user name or a password`, { value: url.host });
  }
  url.hash = '';
  return url;
}

/** The host that a call would reach, as core shows and judges it; none where the URL is refused before anything is sent. */
export function hostsOf(text: string): readonly string[] {
  try {
    return [targetOf(text).host];
  } catch {
    return [];
  }
}

/** Whether a redirect stays with the host that the call was judged by. A site may move from http to https, never back. */
export function isSameHost(from: URL, to: URL): boolean {
  if (from.hostname !== to.hostname || from.port !== to.port) return false;
  return from.protocol === to.protocol || (from.protocol === 'http:' && from.port === '');
}
