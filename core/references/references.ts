import { ConfigError, hasCode } from '../../ports/errors.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { SessionSearch } from '../../ports/session-search.ts';
import { utf8Length } from '../results/utf8.ts';
import { wrapUntrusted } from '../untrusted/wrapper.ts';

/** Where the content of a reference comes from, and what is done to it. */
export interface ReferenceSources {
  readonly fs: Pick<FileSystem, 'resolve' | 'read'>;
  readonly sessions: Pick<SessionSearch, 'messages'>;
  /** 16 hex digits, new with each call. */
  nonce(): string;
  redact(text: string): string;
}

export interface ExpandedTask {
  readonly task: string;
  /** Why a reference was left as it is, for the user. */
  readonly notes: readonly string[];
}

/** Bytes of a file that is taken at all, and of what is put in of it. */
const MAX_FILE_BYTES = 1024 * 1024;
const MAX_CONTENT_BYTES = 50 * 1024;
/** Contents put into one task, and words with an at-sign that are looked at for it. */
const MAX_REFERENCES = 20;
const MAX_LOOKED_AT = 200;
const MAX_TOKEN_CHARS = 1024;
const BINARY_SAMPLE_BYTES = 8192;
const SESSION = 'sess:';

/** An at-sign that begins a word, up to white space or what closes a bracket or a part of a sentence. */
const TOKEN = /(?<=^|[\s([{<,;"'`])@([^\s)\]},;]+)/g;
const SENTENCE_END = /[.:!?"'`>]+$/;

/**
 * Puts the content of files (`@path`) and sessions (`@sess:<id>`) that a task names into it, wrapped as
 * untrusted. What names nothing stays as it is, and so does what may not be read, with a note. A name that
 * ends a sentence counts without the mark behind it.
 */
export async function expandReferences(task: string, sources: ReferenceSources): Promise<ExpandedTask> {
  const [parts, notes]: [string[], string[]] = [[], []];
  let [at, lookedAt, put] = [0, 0, 0];
  for (const match of task.matchAll(TOKEN)) {
    if (lookedAt === MAX_LOOKED_AT) break;
    lookedAt += 1;
    const [whole, token = ''] = match;
    const found = await lookUp(token, sources);
    if (found === undefined) continue;
    const { name } = found;
    if ('fault' in found) notes.push(`@${name} is left as it is: ${found.fault}`);
    else if (put === MAX_REFERENCES) notes.push(`@${name} is left as it is: at most ${MAX_REFERENCES} references of a task are followed`);
    else {
      put += 1;
      const wrapped = wrapUntrusted(found.content, `resource:@${name}`, sources.nonce());
      parts.push(task.slice(at, match.index), `\n\n--- @${name} ---\n${wrapped}\n--- end @${name} ---\n`);
      at = match.index + whole.length - (token.length - name.length);
    }
  }
  return { task: parts.length === 0 ? task : parts.join('') + task.slice(at), notes };
}

/**
 * The content of files, each wrapped as untrusted, to be put before a task. Throws `ConfigError`
 * `invalid_context_file` for one that is not there or may not be read.
 */
export async function contextFiles(paths: readonly string[], sources: ReferenceSources): Promise<string> {
  if (paths.length > MAX_REFERENCES) {
    throw new ConfigError('invalid_context_file', `--ctx names ${paths.length} files, at most ${MAX_REFERENCES} are taken`, {
      value: paths.length,
      limit: MAX_REFERENCES,
    });
  }
  const parts: string[] = [];
  for (const path of paths) {
    const found = await fileAt(path, sources);
    const fault = found === undefined ? 'there is no such file' : 'fault' in found ? found.fault : undefined;
    if (found === undefined || 'fault' in found) throw new ConfigError('invalid_context_file', `--ctx ${path}: ${fault}`, { value: path });
    const name = path.replaceAll(/\s/g, ' ');
    parts.push(`--- ${name} ---\n${wrapUntrusted(found.content, `ctx:${path}`, sources.nonce())}\n--- end ${name} ---\n`);
  }
  return parts.join('\n');
}

type Content = { readonly content: string } | { readonly fault: string };
type Found = Content & { readonly name: string };

async function lookUp(token: string, sources: ReferenceSources): Promise<Found | undefined> {
  if (token.length > MAX_TOKEN_CHARS) return undefined;
  for (const name of new Set([token, token.replace(SENTENCE_END, '')])) {
    const found = name.startsWith(SESSION) ? await sessionAt(name.slice(SESSION.length), sources) : await fileAt(name, sources);
    if (found !== undefined) return { ...found, name };
  }
  return undefined;
}

/** A file's content or why it is not taken; undefined where there is none. */
async function fileAt(path: string, { fs, redact }: ReferenceSources): Promise<Content | undefined> {
  try {
    const target = await fs.resolve(path);
    if (!target.exists && !target.finalLink) return undefined;
    if (target.inState) return { fault: "it is part of odek's own state" };
    if (!target.inRoot) return { fault: 'it is outside the working directory' };
    if (target.finalLink) return { fault: 'it is a link; name the file it leads to' };
    if (target.kind !== 'file') return { fault: target.kind === 'directory' ? 'it is a folder' : 'it is no regular file' };
    if (target.credential) return { fault: 'it is a credential file' };
    const { bytes, size } = await fs.read(path, { maxBytes: MAX_FILE_BYTES });
    if (size > MAX_FILE_BYTES) return { fault: `it has ${size} bytes; at most ${MAX_FILE_BYTES} (1 MiB) are taken` };
    if (bytes.subarray(0, BINARY_SAMPLE_BYTES).includes(0)) return { fault: `it is a binary file of ${size} bytes; only text is taken` };
    return { content: shortened(redact(new TextDecoder().decode(bytes)), 'file') };
  } catch (error) {
    if (hasCode(error, 'invalid_path') || hasCode(error, 'not_found')) return undefined;
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** What was said in a session, the newest that fits. */
async function sessionAt(id: string, { sessions, redact }: ReferenceSources): Promise<Content | undefined> {
  if (!/^[\w.-]{1,128}$/.test(id)) return undefined;
  try {
    const found = await sessions.messages(id);
    if (found === undefined) return undefined;
    const said = found.messages.map(({ role, content }) => `${role}: ${content}`);
    const omitted = found.omitted === 0 ? [] : [`[${found.omitted} earlier messages are left out]`];
    return { content: shortened(redact([...omitted, ...said].join('\n\n')), 'session') };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : String(error) };
  }
}

/** Cut to the bound: the beginning of a file, the end of a session. */
function shortened(text: string, kind: 'file' | 'session'): string {
  const bytes = new TextEncoder().encode(text);
  if (bytes.length <= MAX_CONTENT_BYTES) return text;
  const isStart = kind === 'file';
  const kept = isStart ? bytes.subarray(0, MAX_CONTENT_BYTES) : bytes.subarray(bytes.length - MAX_CONTENT_BYTES);
  // A character that the cut divides is left out.
  const whole = new TextDecoder().decode(kept).replace(isStart ? /\ufffd$/ : /^\ufffd+/, '');
  const note = `[cut: ${utf8Length(whole)} of ${bytes.length} bytes]`;
  return isStart ? `${whole}\n${note}` : `${note}\n${whole}`;
}
