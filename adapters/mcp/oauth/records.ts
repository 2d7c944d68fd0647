import { constants } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { OdekError } from '../../../ports/errors.ts';
import { isFields } from '../fields.ts';
import { withLock } from './lock.ts';

export interface OAuthTokens {
  readonly access: string;
  readonly refresh?: string;
  /** Milliseconds since the epoch; absent where the server did not say. */
  readonly expiresAt?: number;
  /** Of the answer, else what was asked for. */
  readonly scope?: string;
}

/** What the authorization server said of itself, as far as it is needed after a login. */
export interface OAuthAuthority {
  readonly issuer: string;
  readonly url: string;
  readonly token_endpoint?: string;
  readonly revocation_endpoint?: string;
  readonly token_endpoint_auth_methods_supported?: readonly string[];
}

export interface OAuthClientIdentity {
  readonly client_id: string;
  readonly client_secret?: string;
  readonly token_endpoint_auth_method?: string;
  /** Of a registration: it holds for this address alone. */
  readonly redirect_uri?: string;
}

/** A login at one server. */
export interface OAuthRecord {
  readonly key: string;
  readonly server: string;
  readonly url: string;
  readonly authority?: OAuthAuthority;
  readonly client?: OAuthClientIdentity;
  readonly resource?: string;
  readonly tokens?: OAuthTokens;
  /** Scopes that the next login asks for, since the server wanted them. */
  readonly wanted?: string;
}

/** Logins in `mcp_oauth.json` of the state folder, readable by its owner alone and replaced as a whole. */
export interface OAuthRecords {
  readonly file: string;
  get(key: string): Promise<OAuthRecord | undefined>;
  /** Rejects for a record of more than 64 Ki characters. */
  put(record: OAuthRecord): Promise<void>;
  /** Resolves with what was there. */
  remove(key: string): Promise<OAuthRecord | undefined>;
  /** Does `work` while nobody else renews, replaces or ends the same login. */
  exclusively<Result>(key: string, signal: AbortSignal, work: () => Promise<Result>): Promise<Result>;
}

/** The file of logins in the state folder. */
export const OAUTH_FILE = 'mcp_oauth.json';
const VERSION = 1;
const MAX_RECORDS = 500;
const MAX_FILE_BYTES = 4 * 1024 * 1024;
/** What one server says may not make the logins of the others unreadable. */
const MAX_RECORD_CHARS = 64 * 1024;
const WRITE_WAIT_MS = 5_000;
/** Longer than one renewal may take. */
const RENEW_WAIT_MS = 45_000;

export function createOAuthRecords(folder: string): OAuthRecords {
  const file = join(folder, OAUTH_FILE);
  const change = async <Result>(next: (held: readonly OAuthRecord[]) => readonly [readonly OAuthRecord[], Result]): Promise<Result> => {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    return withLock(`${file}.lock`, { waitMs: WRITE_WAIT_MS, busy: () => busy(file, WRITE_WAIT_MS) }, async () => {
      const held = await read(file);
      const [records, result] = next(held);
      if (records !== held) await write(folder, file, records.slice(-MAX_RECORDS));
      return result;
    });
  };
  return {
    file,
    get: async (key) => (await read(file)).find((record) => record.key === key),
    async put(record) {
      const chars = JSON.stringify(record).length;
      if (chars > MAX_RECORD_CHARS) throw unusable(`what is to be kept of it has ${chars} characters, the limit is ${MAX_RECORD_CHARS}`);
      await change((held) => [[...held.filter(({ key }) => key !== record.key), record], undefined]);
    },
    remove: (key) =>
      change((held) => {
        const found = held.find((record) => record.key === key);
        return [found === undefined ? held : held.filter((record) => record !== found), found];
      }),
    async exclusively(key, signal, work) {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const lock = `${file}.${key.slice(0, 16)}.lock`;
      return withLock(lock, { waitMs: RENEW_WAIT_MS, busy: () => busy(file, RENEW_WAIT_MS), signal }, work);
    },
  };
}

function unusable(why: string): Error {
  return new OdekError('mcp_login_failed', why);
}

function busy(file: string, waitMs: number): Error {
  return unusable(`another process holds ${file} for more than ${waitMs} ms`);
}

async function read(file: string): Promise<readonly OAuthRecord[]> {
  const opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => error);
  if (opened instanceof Error) {
    if (opened.code === 'ENOENT' || opened.code === 'ENOTDIR') return [];
    throw unusable(`${file} cannot be read (${opened.code})`);
  }
  try {
    const stat = await opened.stat();
    if (!stat.isFile()) throw unusable(`${file} is no regular file`);
    // Who may read it has the logins already; who may write it could put in a login of their own.
    if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0) {
      throw unusable(`${file} is open to others; nothing in it is used until you run: chmod 600 ${file}`);
    }
    if (stat.size > MAX_FILE_BYTES) throw unusable(`${file} has ${stat.size} bytes, the limit is ${MAX_FILE_BYTES}`);
    return parsed(await opened.readFile('utf8'), file);
  } finally {
    await opened.close();
  }
}

function parsed(text: string, file: string): readonly OAuthRecord[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // What was read is not told: it may hold tokens.
  }
  if (!isFields(value) || value.version !== VERSION || !Array.isArray(value.logins) || !value.logins.every(isRecord)) {
    throw unusable(`${file} is no list of logins of version ${VERSION}; move it away and sign in again`);
  }
  return value.logins;
}

function isRecord(value: unknown): value is OAuthRecord {
  if (!isFields(value) || typeof value.key !== 'string' || typeof value.url !== 'string') return false;
  const { tokens, client, authority } = value;
  if (tokens !== undefined && !isTokens(tokens)) return false;
  if (client !== undefined && !(isFields(client) && typeof client.client_id === 'string')) return false;
  return authority === undefined || (isFields(authority) && typeof authority.issuer === 'string' && typeof authority.url === 'string');
}

function isTokens(value: unknown): boolean {
  if (!isFields(value) || typeof value.access !== 'string') return false;
  const { refresh, expiresAt, scope } = value;
  if (expiresAt !== undefined && typeof expiresAt !== 'number') return false;
  return [refresh, scope].every((each) => each === undefined || typeof each === 'string');
}

async function write(folder: string, file: string, logins: readonly OAuthRecord[]): Promise<void> {
  const text = `${JSON.stringify({ version: VERSION, logins }, null, 1)}\n`;
  const bytes = Buffer.byteLength(text);
  if (bytes > MAX_FILE_BYTES) throw unusable(`${file} would have ${bytes} bytes, the limit is ${MAX_FILE_BYTES}`);
  const temporary = join(folder, `.${process.pid}-${crypto.randomUUID()}.tmp`);
  const opened = await open(temporary, 'wx', 0o600);
  try {
    await opened.writeFile(text);
    await opened.sync();
    await opened.close();
    await rename(temporary, file);
  } catch (error) {
    await opened.close().catch(() => {});
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
