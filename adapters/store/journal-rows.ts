import type { Message } from '../../ports/message.ts';
import type { ExternalRef, JournalRecord, LastRun, SessionHeader, StoredRecord } from '../../ports/session.ts';
import { SessionError } from '../../ports/session.ts';

/** Characters of JSON one record may have. */
const MAX_RECORD_CHARS = 64 * 1024 * 1024;

export interface HeaderRow {
  readonly n: number;
  readonly id: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly title: string;
  readonly provider: string;
  readonly model: string;
  readonly workspace: string;
  readonly listed: number;
  readonly external_refs: string;
  readonly last_run_id: string | null;
  readonly last_run_state: string | null;
  readonly turns: number;
  readonly messages: number;
  readonly input: number;
  readonly output: number;
}

export const HEADER_COLUMNS =
  'n, id, created_at, updated_at, title, provider, model, workspace, listed, external_refs, last_run_id, last_run_state, turns, messages, input, output';

export interface RecordRow {
  readonly seq: number;
  readonly at: number;
  readonly json: string;
}

/** What a batch of records adds to the header. */
export interface Counts {
  turns: number;
  messages: number;
  input: number;
  output: number;
}

function damaged(what: string, cause: unknown): SessionError {
  return new SessionError('database_corrupt', `${what} cannot be read; it was left as it is ("odek doctor" says what to do)`, { cause });
}

function parse(json: string, what: string): unknown {
  try {
    return JSON.parse(json);
  } catch (cause) {
    throw damaged(what, cause);
  }
}

export function toHeader(row: HeaderRow): SessionHeader {
  return {
    id: row.id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    title: row.title,
    provider: row.provider,
    model: row.model,
    workspace: row.workspace,
    listed: row.listed !== 0,
    turns: row.turns,
    messages: row.messages,
    input: row.input,
    output: row.output,
    externalRefs: parse(row.external_refs, `external refs of session ${row.id}`) as readonly ExternalRef[],
    ...(row.last_run_id === null ? {} : { lastRun: { id: row.last_run_id, state: row.last_run_state as LastRun['state'] } }),
  };
}

export function toRecords(rows: readonly RecordRow[], id: string): StoredRecord[] {
  return rows.map(({ seq, at, json }) => ({ seq, at, record: parse(json, `record ${seq} of session ${id}`) as JournalRecord }));
}

export function toJson(record: JournalRecord): string {
  let json: string;
  try {
    json = JSON.stringify(record);
  } catch (cause) {
    throw new SessionError('store_error', `a ${record.kind} record is not plain JSON data; nothing was stored`, {
      value: record.kind,
      cause,
    });
  }
  if (json.length <= MAX_RECORD_CHARS) return json;
  const message = `a ${record.kind} record has ${json.length} characters, the limit is ${MAX_RECORD_CHARS}; nothing was stored`;
  throw new SessionError('store_error', message, { value: json.length, limit: MAX_RECORD_CHARS });
}

export function count(records: readonly JournalRecord[]): Counts {
  const counts: Counts = { turns: 0, messages: 0, input: 0, output: 0 };
  for (const record of records) {
    if (record.kind === 'message' || record.kind === 'tool_finished') counts.messages++;
    if (record.kind === 'message' && record.message.role === 'user') counts.turns++;
    if (record.kind === 'usage') {
      counts.input += record.usage.input;
      counts.output += record.usage.output;
    }
  }
  return counts;
}

/** The text of a record that full-text search covers; undefined for everything but what a person or the model said. */
export function searchable(record: JournalRecord): string | undefined {
  if (record.kind !== 'message') return undefined;
  const message: Message = record.message;
  return message.role !== 'system' && message.content !== '' ? message.content : undefined;
}

/** SQLite text: a NUL would end it for some readers, half a surrogate pair cannot be stored. */
export function toText(value: string): string {
  return value.replaceAll('\0', '\ufffd').toWellFormed();
}
