import { CancelledError, isOdekError } from '../../ports/errors.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import { type LineMatcher, PatternTooCostly } from './linear-regex.ts';
import { MAX_LISTED_CHARS, MIB } from './result.ts';
import { decodeText, isBinary } from './text.ts';

export interface Candidate {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  readonly modifiedAt: number;
}

export interface Match {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  readonly content: string;
}

export interface ContentSearch {
  readonly candidates: readonly Candidate[];
  readonly matcher: LineMatcher;
  readonly limit: number;
}

export interface ContentFindings {
  readonly matches: readonly Match[];
  /** `<path>: <why>`. */
  readonly skipped: readonly string[];
  readonly notes: readonly string[];
}

const MAX_FILE_BYTES = 4 * MIB;
const MAX_TOTAL_BYTES = 512 * MIB;
const READS_AT_ONCE = 8;
/** Characters shown of a matching line, and how many more to the end of a word that would be cut. */
const MAX_LINE_CHARS = 500;
const MAX_WORD_REST = 1024;

/** Looks through the candidates in their order until `limit` matches are found. Rejects with `CancelledError` soon after `signal` fires. */
export async function searchContents(fs: FileSystem, search: ContentSearch, signal: AbortSignal): Promise<ContentFindings> {
  const findings = createFindings(search.limit);
  let bytesRead = 0;
  for (let start = 0; start < search.candidates.length && !findings.isFull(); start += READS_AT_ONCE) {
    if (signal.aborted) throw new CancelledError();
    if (bytesRead > MAX_TOTAL_BYTES) {
      findings.note(
        `stopped after ${bytesRead} bytes, ${search.candidates.length - start} files were not searched; narrow path or file_glob`,
      );
      break;
    }
    const batch = search.candidates.slice(start, start + READS_AT_ONCE);
    const contents = await Promise.all(batch.map((candidate) => readText(fs, candidate, signal)));
    for (const [index, candidate] of batch.entries()) {
      const content = contents[index];
      if (content === undefined || findings.isFull()) continue;
      if ('fault' in content) findings.skip(`${candidate.path}: ${content.fault}`);
      else {
        bytesRead += content.bytes;
        if (content.cut) findings.skip(`${candidate.path}: only the first ${MAX_FILE_BYTES} of ${candidate.size} bytes were searched`);
        searchText(content.text, candidate.path, search.matcher, findings);
      }
    }
  }
  return findings;
}

type Content = { readonly text: string; readonly bytes: number; readonly cut: boolean } | { readonly fault: string };

/** Undefined for a binary file. */
async function readText(fs: FileSystem, { path }: Candidate, signal: AbortSignal): Promise<Content | undefined> {
  try {
    const { bytes, size } = await fs.read(path, { maxBytes: MAX_FILE_BYTES, signal });
    return isBinary(bytes) ? undefined : { text: decodeText(bytes), bytes: bytes.length, cut: size > bytes.length };
  } catch (error) {
    if (signal.aborted || !isOdekError(error)) throw error;
    return { fault: error.code };
  }
}

function searchText(text: string, path: string, matcher: LineMatcher, findings: Findings): void {
  matcher.refill();
  try {
    let line = 1;
    for (let from = 0; from < text.length && !findings.isFull(); line += 1) {
      const found = text.indexOf('\n', from);
      const next = found < 0 ? text.length : found;
      const to = text.charCodeAt(next - 1) === 13 && next > from ? next - 1 : next;
      if (matcher.test(text, from, to))
        findings.add({
          path,
          line,
          content: shownOf(text.slice(from, Math.min(to, from + MAX_LINE_CHARS + MAX_WORD_REST)), to - from),
        });
      from = next + 1;
    }
  } catch (error) {
    if (!(error instanceof PatternTooCostly)) throw error;
    findings.skip(`${path}: not searched to its end, the pattern is too costly on it`);
  }
}

/**
 * The head of a line. No word is cut in two, since what masks secrets sees the result alone and does not know half of one. Where
 * there is no white space for long, as in generated code, that holds for the name or the number at the cut.
 */
function shownOf(head: string, lineChars: number): string {
  if (lineChars <= MAX_LINE_CHARS) return head;
  const tail = head.slice(MAX_LINE_CHARS);
  const rests = [/^\S*/, /^[\w+/=.~%-]*/].map((word) => word.exec(tail)?.[0].length ?? 0);
  const end = MAX_LINE_CHARS + (rests.find((rest) => rest < MAX_WORD_REST) ?? 0);
  return end === lineChars ? head : `${head.slice(0, end)}…`;
}

type Findings = ReturnType<typeof createFindings>;

function createFindings(limit: number) {
  const matches: Match[] = [];
  const skipped: string[] = [];
  const notes: string[] = [];
  let room = MAX_LISTED_CHARS;
  let full = false;
  return {
    matches,
    skipped,
    notes,
    isFull: () => full,
    add(match: Match): void {
      room -= JSON.stringify(match).length + 1;
      if (room < 0) {
        full = true;
        notes.push(`cut: matches hold at most ${MAX_LISTED_CHARS} characters`);
        return;
      }
      matches.push(match);
      if (matches.length < limit) return;
      full = true;
      notes.push(`stopped at ${limit} matches; there may be more`);
    },
    skip: (what: string) => void skipped.push(what),
    note: (what: string) => void notes.push(what),
  };
}
