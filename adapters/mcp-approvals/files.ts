import { constants } from 'node:fs';
import { mkdir, open, rename, unlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { McpApprovalError, type McpApprovalLayer, type McpApprovalRecord, type McpApprovalStore } from '../../ports/mcp-approval.ts';
import { withFileLock } from './lock.ts';

export interface FileApprovalsOptions {
  /** The state folder; made when the first approval is kept. */
  readonly folder: string;
  readonly warn: (text: string) => void;
  /** Milliseconds to wait for another process that writes; default 5,000. */
  readonly waitMs?: number;
}

const FILES: Readonly<Record<McpApprovalLayer, string>> = { servers: 'mcp_approvals.json', tools: 'mcp_tool_approvals.json' };
const VERSION = 1;
const KEY = /^[0-9a-f]{64}$/;
const MAX_RECORDS = 10_000;
const MAX_RECORD_CHARS = 256 * 1024;
const MAX_FILE_BYTES = 64 * 1024 * 1024;
const WAIT_MS = 5_000;

type Reading =
  | { readonly records: readonly McpApprovalRecord[] }
  /** Not to be used and not to be touched. */
  | { readonly refused: string }
  | { readonly corrupt: string };

/** {@link McpApprovalStore} in two files of the state folder, each replaced as a whole and readable by the owner alone. */
export function createFileApprovals({ folder, warn, waitMs = WAIT_MS }: FileApprovalsOptions): McpApprovalStore {
  const fileOf = (layer: McpApprovalLayer): string => join(folder, FILES[layer]);

  const change = async <Result>(
    layer: McpApprovalLayer,
    next: (held: readonly McpApprovalRecord[]) => { readonly records: readonly McpApprovalRecord[]; readonly result: Result },
  ): Promise<Result> => {
    const file = fileOf(layer);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      return await withFileLock(`${file}.lock`, waitMs, async () => {
        const reading = await read(file);
        if ('refused' in reading) throw new McpApprovalError('mcp_approvals_unwritable', reading.refused, { value: file });
        const held = 'records' in reading ? reading.records : await setAside(file, reading.corrupt, warn);
        const { records, result } = next(held);
        if (records !== held) await write(file, records);
        return result;
      });
    } catch (cause) {
      if (cause instanceof McpApprovalError) throw cause;
      const why = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
      throw new McpApprovalError('mcp_approvals_unwritable', `${file} cannot be written: ${why}`, { value: file, cause });
    }
  };

  return {
    async list(layer) {
      const file = fileOf(layer);
      const reading = await read(file);
      if ('records' in reading) return reading.records;
      if ('refused' in reading) warn(reading.refused);
      // Set aside under the lock, so that nothing is moved that another process just wrote anew.
      else await change(layer, (records) => ({ records, result: undefined }));
      return [];
    },
    async add(layer, records) {
      for (const record of records) check(record, fileOf(layer));
      if (records.length === 0) return;
      const added = new Set(records.map(({ key }) => key));
      await change(layer, (held) => ({
        records: [...held.filter(({ key }) => !added.has(key)), ...records].slice(-MAX_RECORDS),
        result: undefined,
      }));
    },
    async remove(layer, keys) {
      const gone = new Set(keys);
      return change(layer, (held) => {
        const records = held.filter(({ key }) => !gone.has(key));
        const result = held.length - records.length;
        return { records: result === 0 ? held : records, result };
      });
    },
  };
}

function check(record: McpApprovalRecord, file: string): void {
  const size = JSON.stringify(record).length;
  if (KEY.test(record.key) && size <= MAX_RECORD_CHARS) return;
  const limit = KEY.test(record.key) ? `${MAX_RECORD_CHARS} characters` : 'a key of 64 hex digits';
  throw new McpApprovalError('mcp_approvals_unwritable', `an approval of ${size} characters does not go into ${file}: ${limit}`, { limit });
}

async function read(file: string): Promise<Reading> {
  const opened = await open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch((error: NodeJS.ErrnoException) => error);
  if (opened instanceof Error) {
    if (opened.code === 'ENOENT' || opened.code === 'ENOTDIR') return { records: [] };
    return { refused: `${file} cannot be read (${opened.code}); nothing in it counts as approved` };
  }
  try {
    const stat = await opened.stat();
    if (!stat.isFile()) return { refused: `${file} is no regular file; nothing in it counts as approved` };
    // Whoever may write there could approve for this user.
    if (process.platform !== 'win32' && (stat.mode & 0o022) !== 0) {
      return { refused: `${file} may be written by others; nothing in it counts as approved until you run: chmod 600 ${file}` };
    }
    if (stat.size > MAX_FILE_BYTES) return { corrupt: `it has ${stat.size} bytes, the limit is ${MAX_FILE_BYTES}` };
    return parsed(await opened.readFile('utf8'));
  } finally {
    await opened.close();
  }
}

function parsed(text: string): Reading {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { corrupt: 'it is not JSON' };
  }
  const { version, approvals } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  if (version !== VERSION || !Array.isArray(approvals)) return { corrupt: `it is no list of approvals of version ${VERSION}` };
  return approvals.every(isRecord) ? { records: approvals } : { corrupt: 'it holds something that is no approval' };
}

function isRecord(value: unknown): value is McpApprovalRecord {
  return typeof value === 'object' && value !== null && KEY.test(String((value as Record<string, unknown>).key));
}

async function setAside(file: string, why: string, warn: (text: string) => void): Promise<readonly McpApprovalRecord[]> {
  const kept = `${file}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`;
  await rename(file, kept);
  warn(`${file} is corrupt (${why}); nothing in it counts as approved any more, and it is kept as ${kept}`);
  return [];
}

async function write(file: string, approvals: readonly McpApprovalRecord[]): Promise<void> {
  const temporary = join(dirname(file), `.${process.pid}-${crypto.randomUUID()}.tmp`);
  const opened = await open(temporary, 'wx', 0o600);
  try {
    await opened.writeFile(`${JSON.stringify({ version: VERSION, approvals }, null, 1)}\n`);
    await opened.sync();
    await opened.close();
    await rename(temporary, file);
  } catch (error) {
    await opened.close().catch(() => {});
    await unlink(temporary).catch(() => {});
    throw error;
  }
}
