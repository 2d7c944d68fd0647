/**
 * Secrets recognised by their shape. Every pattern here is linear: a start is either a literal that
 * cannot repeat inside a failed match, or is pinned to the beginning of a run, and nothing unbounded
 * is tried again from a later start.
 */

export const REDACTED = '[REDACTED]';

/** Shortest run of value characters that can hold anything recognised in {@link redactRuns}. */
const MIN_RUN = 15;
const MIN_VALUE = 20;
const LOOK_BACK = 96;

/** Characters of a token: printable ASCII without quotes, brackets and separators. */
const IS_VALUE = (() => {
  const table = new Uint8Array(128);
  for (let code = 0x21; code < 0x7f; code += 1) table[code] = 1;
  for (const char of '"\'`<>\\,;(){}[]|') table[char.charCodeAt(0)] = 0;
  return table;
})();

function isValue(code: number): boolean {
  return code < 128 && IS_VALUE[code] === 1;
}

/** One pass that says whether any of {@link TOKENS} is worth trying. */
const TOKEN_HINT =
  /gsk_|xai-|hf_|sk-|gh[pousr]_|github_pat_|A[SK]IA|eyJ|xox[abpos]-|[rs]k_(?:live|test)_|AIza|SK[0-9a-fA-F]{4}|hv[sb]\.|ya29\.|1\/\/0|SG\.|\d{5}:|\.[\w-]{6}\./;

const TOKENS: readonly RegExp[] = [
  /(?:gsk_|xai-|hf_)[A-Za-z0-9]{32,}/g,
  /(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{32,}/g,
  /gh[pousr]_[A-Za-z0-9]{36,}/g,
  /github_pat_[A-Za-z0-9_]{22,}/g,
  /A[SK]IA[A-Z0-9]{16}/g,
  /(?<![\w-])eyJ[\w-]{17,}\.[\w-]{20,}\.[\w-]{20,}/g,
  /xox[abpos]-[A-Za-z0-9-]{10,}/g,
  /[rs]k_(?:live|test)_[A-Za-z0-9]{10,}/g,
  /AIza[\w-]{35,}/g,
  /(?<![A-Za-z0-9])SK[0-9a-fA-F]{32}(?![0-9a-fA-F])/g,
  /hv[sb]\.[\w-]{20,}/g,
  /ya29\.[\w-]{20,}/g,
  /1\/\/0[\w-]{20,}/g,
  /SG\.[\w-]{16,}\.[\w-]{16,}/g,
  /(?<!\d)\d{5,}:[\w-]{30,}/g,
  /(?<![\w-])[MNO][\w-]{23,27}\.[\w-]{6}\.[\w-]{27,}/g,
];

const SECRET_WORD = '(?:api[_-]?key|secret|token|passwo?r?d|passphrase|credential|private[_-]?key|access[_-]?key|authorization)';
const NAME_END = '(?:[_-]?(?:value|token|key))?s?';
/** `name=value` inside one run; environment names in capitals may end in any `_KEY`. */
const INLINE_VALUE = new RegExp(`(${SECRET_WORD}${NAME_END}[:=]{1,2})([^&]{${MIN_VALUE},})`, 'gi');
const INLINE_KEY = new RegExp(`(_KEY=)([^&]{${MIN_VALUE},})`, 'g');
const BEFORE_VALUE = new RegExp(
  `${SECRET_WORD}${NAME_END}\\\\{0,2}["'\`]?\\s{0,4}[:=]{1,2}>?\\s{0,4}(?:(?:bearer|basic|token)\\s{1,4})?\\\\{0,2}["'\`]?$`,
  'i',
);
const BEFORE_KEY = /_KEY\s?=\s?\\?["']?$/;
const BEARER = /bearer\s{1,4}$/i;
const SECRET_NAME = new RegExp(`${SECRET_WORD}${NAME_END}$|_KEY$`, 'i');

/** Values under a secret's name that only point at one: code, a variable, a path, a page. */
const POINTER =
  /^(?:process\.env\.|import\.meta\.|os\.environ|os\.getenv|self\.|this\.|\$[A-Za-z_]|https?:\/\/|\.{1,2}\/|~\/|\/(?:etc|usr|var|home|run|opt|tmp|root|Users)\/)/;

/** True for the name of a field that holds a secret. */
export function isSecretName(name: string): boolean {
  return name.length <= 128 && SECRET_NAME.test(name);
}

/** True for text that, under a secret's name, is the secret itself. */
export function isSecretValue(value: string): boolean {
  return value.length >= MIN_VALUE && !POINTER.test(value) && !/\s/.test(value);
}

function hideValue(match: string, name: string, value: string): string {
  return isSecretValue(value) ? name + REDACTED : match;
}

/** Whether what stands before a value names it as a secret. */
function announced(text: string, start: number): boolean {
  let at = start - 1;
  for (let skipped = 0; at >= 0 && skipped < 8; skipped += 1, at -= 1) {
    const char = text.charCodeAt(at);
    if (char !== 32 && char !== 9 && char !== 34 && char !== 39 && char !== 92 && char !== 96 && char !== 10 && char !== 13) break;
  }
  const char = text[at];
  if (char === undefined || !':=>rRcCnN'.includes(char)) return false;
  const before = text.slice(Math.max(0, start - LOOK_BACK), start);
  return BEFORE_VALUE.test(before) || BEFORE_KEY.test(before) || BEARER.test(before);
}

function redactRun(text: string, start: number, end: number): string {
  let from = start;
  while (from < end && (text.charCodeAt(from) === 61 || text.charCodeAt(from) === 58)) from += 1;
  const lead = text.slice(start, from);
  const value = text.slice(from, end);
  const isCall = text.charCodeAt(end) === 40;
  if (!isCall && isSecretValue(value) && announced(text, from)) return lead + REDACTED;

  let run = value;
  if (TOKEN_HINT.test(run)) for (const token of TOKENS) run = run.replace(token, REDACTED);
  if (!isCall && (run.includes('=') || run.includes(':'))) run = run.replace(INLINE_VALUE, hideValue).replace(INLINE_KEY, hideValue);
  return lead + run;
}

/** Hides tokens and named values. Looks at every fifteenth character, and closer only inside long runs of value characters. */
export function redactRuns(text: string): string {
  let out = '';
  let copied = 0;
  let floor = 0;
  for (let at = MIN_RUN - 1; at < text.length; ) {
    if (!isValue(text.charCodeAt(at))) {
      at += MIN_RUN;
      continue;
    }
    let start = at;
    while (start > floor && isValue(text.charCodeAt(start - 1))) start -= 1;
    let end = at + 1;
    while (end < text.length && isValue(text.charCodeAt(end))) end += 1;
    // In escaped text the letter of `\n` belongs to the line break.
    if (text.charCodeAt(start - 1) === 92 && 'nrt'.includes(text.charAt(start))) start += 1;
    if (end - start >= MIN_RUN) {
      const run = redactRun(text, start, end);
      if (run.length !== end - start || !text.startsWith(run, start)) {
        out += text.slice(copied, start) + run;
        copied = end;
      }
    }
    floor = end;
    at = end + MIN_RUN;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

const KEY_BEGIN = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g;
const KEY_END = /-----END [A-Z0-9 ]{0,40}-----/y;
/** What a key block is made of, with line numbers, quotes and diff marks around its lines. */
const IS_KEY_BODY = (() => {
  const table = new Uint8Array(128);
  for (const char of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=-:, \t\r\n\\"\'|>#*;') table[char.charCodeAt(0)] = 1;
  return table;
})();

function keyEnd(text: string, from: number): number {
  for (let at = from; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    if (code === 45 && text.startsWith('-----END ', at)) {
      KEY_END.lastIndex = at;
      return KEY_END.test(text) ? KEY_END.lastIndex : at;
    }
    if (code >= 128 || IS_KEY_BODY[code] !== 1) return at;
  }
  return text.length;
}

/** Hides private keys, also those whose end was cut off. */
export function redactPrivateKeys(text: string): string {
  if (!text.includes('-----BEGIN ')) return text;
  let out = '';
  let copied = 0;
  KEY_BEGIN.lastIndex = 0;
  for (let match = KEY_BEGIN.exec(text); match !== null; match = KEY_BEGIN.exec(text)) {
    const end = keyEnd(text, match.index + match[0].length);
    out += text.slice(copied, match.index) + REDACTED;
    copied = end;
    KEY_BEGIN.lastIndex = end;
  }
  return copied === 0 ? text : out + text.slice(copied);
}

const MIN_URL_PASSWORD = 6;
const MAX_USER_INFO = 512;
const ENDS_USER_INFO = /[\s"<>`]/;
/** `host:port/…` with an `@` further on is no password. */
const PORT = /^\d{1,5}[/?#]/;

function isWebScheme(text: string, mark: number): boolean {
  return text.startsWith('http', mark - 4) || text.startsWith('https', mark - 5);
}

/** Hides the password of `scheme://user:password@host`. */
export function redactUrlPasswords(text: string): string {
  let out = '';
  let copied = 0;
  let at = -1;
  for (let mark = text.indexOf('://'); mark !== -1; mark = text.indexOf('://', mark + 1)) {
    const from = mark + 3;
    if (at < from) at = text.indexOf('@', from);
    if (at === -1) break;
    if (at - from > MAX_USER_INFO) continue;
    const userInfo = text.slice(from, at);
    const colon = userInfo.indexOf(':');
    if (colon === -1 || userInfo.length - colon - 1 < MIN_URL_PASSWORD) continue;
    const password = userInfo.slice(colon + 1);
    if (userInfo.slice(0, colon).includes('/') || ENDS_USER_INFO.test(userInfo)) continue;
    if (password === REDACTED || PORT.test(password) || (isWebScheme(text, mark) && password.includes('/'))) continue;
    out += text.slice(copied, from + colon + 1) + REDACTED;
    copied = at;
    mark = at;
  }
  return copied === 0 ? text : out + text.slice(copied);
}
