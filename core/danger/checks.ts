import type { DangerClass } from '../../ports/approval.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Check } from './findings.ts';
import type { ReadLedger } from './ledger.ts';
import { matchesPattern } from './pattern.ts';
import { absolute, folderOf, isWithin, nameOf, type Place } from './place.ts';
import { armedBecause } from './repository.ts';
import { scanned } from './script-scan.ts';
import { bringsPersistence, isPersistent } from './sensitive.ts';

/** What a check found. */
export interface CheckFinding {
  readonly class: DangerClass;
  readonly reason: string;
}

export interface CheckTools {
  readonly fs: FileSystem;
  readonly place: Place;
  /** Absent: no script counts as read. */
  readonly ledger?: ReadLedger | undefined;
}

/** Files and folders looked at below one folder. */
const MAX_SWEPT = 20_000;
const SWEEP_DEPTH = 16;
/** Bytes of an archive, packed and unpacked, and of a list of what git ignores. */
const MAX_ARCHIVE = 64 * 1024 * 1024;
const MAX_IGNORE = 64 * 1024;
/** How archives begin whose names are packed: bzip2, xz, zstd, compress, 7z, rar, lz4, lzip, lzma. */
const PACKED = ['425a68', 'fd377a58', '28b52ffd', '1f9d', '377abcaf', '52617221', '04224d18', '4c5a4950', '5d0000'];
/** Not entered: other people's code, whose credentials are samples. */
const NOT_SWEPT = new Set(['node_modules', '.git', 'vendor', '.venv', '__pycache__', 'target']);

type PathCheck = Extract<Check, { readonly kind: 'path' }>;
type Sweep = Extract<Check, { readonly kind: 'sweep' }>;
type Carry = Extract<Check, { readonly kind: 'carry' }>;

/** Asks the file system what the syntax of a command left open. Never rejects: what cannot be answered is a finding. */
export async function answerChecks(checks: readonly Check[], tools: CheckTools): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = [];
  for (const check of checks) {
    const found = await answer(check, tools);
    findings.push(...found);
  }
  return findings;
}

async function answer(check: Check, tools: CheckTools): Promise<readonly CheckFinding[]> {
  if (check.kind === 'path') return leadsOut(check, tools);
  if (check.kind === 'carry') return carries(check, tools);
  const found = await answerOne(check, tools);
  return found === undefined ? [] : [found];
}

function answerOne(check: Exclude<Check, { readonly kind: 'path' | 'carry' }>, tools: CheckTools): Promise<CheckFinding | undefined> {
  switch (check.kind) {
    case 'climb':
      return climbs(check, tools);
    case 'sweep':
      return sweepsUp(check, tools);
    case 'unpack':
      return unpacks(check, tools);
    case 'script':
      return unread(check.path, tools);
    case 'repository':
      return armed(check.path, tools);
  }
}

async function leadsOut({ path, use, after }: PathCheck, { fs, place }: CheckTools): Promise<readonly CheckFinding[]> {
  try {
    const target = await fs.resolve(path);
    if (target.inState) return [{ class: 'system_write', reason: `${path} is part of odek's own state` }];
    if (use === 'read' && target.credential && target.kind !== 'directory')
      return [{ class: 'system_write', reason: `${path} is a credential file` }];
    if (after === 'links' && !target.exists)
      return [{ class: 'system_write', reason: `${path} is not there yet, and the line can make it a link to anywhere` }];
    const real = absolute(target.real, '/');
    const findings: CheckFinding[] = [];
    if (use === 'write' && real !== path && isPersistent(real, place, ''))
      findings.push({ class: 'persistence', reason: `${path} leads to ${target.real}, which makes something run later` });
    const temp = place.tempDirs.some((folder) => isWithin(real, absolute(folder, '/')));
    if (!target.inRoot && !temp)
      findings.push({ class: 'system_write', reason: `${path} leads to ${target.real}, outside the working directory` });
    return findings;
  } catch (error) {
    return [{ class: 'unknown', reason: `${path} cannot be looked at: ${error instanceof Error ? error.message : String(error)}` }];
  }
}

async function climbs({ path, after }: Pick<PathCheck, 'path' | 'after'>, { fs }: CheckTools): Promise<CheckFinding | undefined> {
  try {
    const { real, exists } = await fs.resolve(path);
    if (after !== undefined && !exists)
      return { class: 'system_write', reason: `${path} is not there yet, the line can make it a link, and the path goes up from there` };
    if (absolute(real, '/') === path) return undefined;
    return { class: 'system_write', reason: `${path} leads to ${real}, and the path goes up from there` };
  } catch (error) {
    return { class: 'unknown', reason: `${path} cannot be looked at: ${error instanceof Error ? error.message : String(error)}` };
  }
}

async function sweepsUp({ path, hidden, links, ignores, after }: Sweep, { fs, place }: CheckTools): Promise<CheckFinding | undefined> {
  const isIgnored = ignores === true ? await ignoredBy(place, fs) : () => false;
  const skip = (name: string): boolean => NOT_SWEPT.has(name) || (!hidden && name.startsWith('.'));
  try {
    const { kind } = await fs.resolve(path);
    if (links === true && after === 'links') return { class: 'system_write', reason: `it follows links that the line can make in ${path}` };
    if (kind !== 'directory') return undefined;
    let seen = 0;
    for await (const entry of fs.list(path, { depth: SWEEP_DEPTH, skip })) {
      if (entry.credential && entry.kind !== 'directory' && !isIgnored(entry.path))
        return { class: 'system_write', reason: `it reads the credential file ${entry.path}, too` };
      const out = links === true && entry.kind === 'link' ? await leadsAway(`${path}/${entry.path}`, place.workspace, fs) : undefined;
      if (out !== undefined) return out;
      seen += 1;
      if (seen >= MAX_SWEPT) return { class: 'system_write', reason: `${path} has too many files to look for credentials` };
    }
    return undefined;
  } catch {
    return { class: 'system_write', reason: `${path} cannot be looked through` };
  }
}

/** What is ignored by name in the file at the top of the working directory; a line that takes something back ends that. */
async function ignoredBy({ workspace }: Place, fs: FileSystem): Promise<(path: string) => boolean> {
  try {
    const { bytes } = await fs.read(`${workspace}/.gitignore`, { maxBytes: MAX_IGNORE });
    const lines = new TextDecoder()
      .decode(bytes)
      .split(/\r?\n/)
      .map((line) => line.trim());
    if (lines.some((line) => line.startsWith('!'))) return () => false;
    const names = lines.filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.replace(/^(?:\*\*)?\/|\/$/g, ''));
    return (path) => path.split('/').some((segment) => names.some((name) => matchesPattern(name, segment)));
  } catch {
    return () => false;
  }
}

/** A link that leads out of `folder`, or to a credential. */
async function leadsAway(path: string, folder: string, fs: FileSystem): Promise<CheckFinding | undefined> {
  const { real, credential, inState } = await fs.resolve(path);
  if (isWithin(absolute(real, '/'), absolute(folder, '/')) && !credential && !inState) return undefined;
  return { class: 'system_write', reason: `${path} is a link to ${real}, and goes along` };
}

/** What is brought elsewhere: a link can lead out from there, a file can run later there. */
async function carries({ path, to, hidden, after }: Carry, { fs, place }: CheckTools): Promise<readonly CheckFinding[]> {
  const findings: CheckFinding[] = [];
  const add = (finding: CheckFinding | undefined): void => {
    if (finding !== undefined && !findings.some((each) => each.class === finding.class)) findings.push(finding);
  };
  try {
    const found = await fs.resolve(path);
    if (after === 'links') add({ class: 'system_write', reason: `the line can make links in ${path}, which it brings elsewhere` });
    if (found.finalLink && folderOf(path) !== folderOf(to)) add(await leadsAway(path, place.workspace, fs));
    if (found.kind !== 'directory') return findings;
    let seen = 0;
    const skip = (name: string): boolean => name.startsWith('.');
    const name = nameOf(path);
    for await (const entry of fs.list(path, { depth: SWEEP_DEPTH })) {
      if (!hidden && skip(entry.path)) continue;
      if (entry.kind === 'link') add(await leadsAway(`${path}/${entry.path}`, found.real, fs));
      if ([`${to}/${entry.path}`, `${to}/${name}/${entry.path}`].some((there) => isPersistent(there, place, '')))
        add({ class: 'persistence', reason: `${entry.path} in ${path} makes something run later` });
      seen += 1;
      if (seen >= MAX_SWEPT) add({ class: 'system_write', reason: `${path} has too many files to look for links` });
      if (seen >= MAX_SWEPT || findings.length === 2) break;
    }
  } catch {
    add({ class: 'system_write', reason: `${path} cannot be looked through` });
  }
  return findings;
}

async function unpacks({ path }: { readonly path: string }, { fs }: CheckTools): Promise<CheckFinding | undefined> {
  const why = await brings(path, fs);
  return why === undefined ? undefined : { class: 'persistence', reason: `${path} ${why}` };
}

async function brings(path: string, fs: FileSystem): Promise<string | undefined> {
  try {
    const { bytes, size } = await fs.read(path, { maxBytes: MAX_ARCHIVE });
    if (size > bytes.length) return 'is too large to be looked into, and some files make something run later';
    const text = await textIn(bytes);
    if (text === undefined) return 'cannot be looked into, and some files make something run later';
    return bringsPersistence(text) ? 'holds, or speaks of, files that make something run later' : undefined;
  } catch {
    return 'cannot be looked into, and some files make something run later';
  }
}

/** The names of a tar, a zip or a patch stand in it as they are; one that gzip packed is unpacked first, others cannot be read. */
async function textIn(bytes: Uint8Array): Promise<string | undefined> {
  // Whatever the bytes mean: names are looked for, and those are plain.
  const latin = (part: Uint8Array): string => new TextDecoder('latin1').decode(part);
  const head = Array.from(bytes.subarray(0, 4), (byte) => byte.toString(16).padStart(2, '0')).join('');
  if (PACKED.some((magic) => head.startsWith(magic))) return undefined;
  if (!head.startsWith('1f8b')) return latin(bytes);
  const reader = new Blob([bytes.slice()]).stream().pipeThrough(new DecompressionStream('gzip')).getReader();
  let text = '';
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += latin(part.value);
    if (text.length <= MAX_ARCHIVE) continue;
    await reader.cancel();
    return undefined;
  }
  return text;
}

async function unread(path: string, { fs, ledger }: CheckTools): Promise<CheckFinding | undefined> {
  if ((await ledger?.holds(path)) === true) return undefined;
  return { class: 'unread_exec', reason: `${path} was not read in this session, or changed since; ${await scanned(path, fs)}` };
}

async function armed(path: string, { fs, place }: CheckTools): Promise<CheckFinding | undefined> {
  const reason = await armedBecause(path, place.workspace, fs);
  return reason === undefined ? undefined : { class: 'code_execution', reason: `git can run what the repository names: ${reason}` };
}
