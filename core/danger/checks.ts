import type { DangerClass } from '../../ports/approval.ts';
import type { FileSystem } from '../../ports/file-system.ts';
import type { Check } from './findings.ts';
import type { ReadLedger } from './ledger.ts';
import { absolute, isWithin, type Place } from './place.ts';
import { armedBecause } from './repository.ts';
import { scanned } from './script-scan.ts';
import { isPersistent } from './sensitive.ts';

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
/** Not entered: other people's code, whose credentials are samples. */
const NOT_SWEPT = new Set(['node_modules', '.git', 'vendor', '.venv', '__pycache__', 'target']);

type PathCheck = Extract<Check, { readonly kind: 'path' }>;

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
  const found = await answerOne(check, tools);
  return found === undefined ? [] : [found];
}

function answerOne(check: Exclude<Check, { readonly kind: 'path' }>, tools: CheckTools): Promise<CheckFinding | undefined> {
  switch (check.kind) {
    case 'climb':
      return climbs(check, tools);
    case 'sweep':
      return sweepsUp(check.path, check.hidden, tools);
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

async function sweepsUp(path: string, hidden: boolean, { fs }: CheckTools): Promise<CheckFinding | undefined> {
  const skip = (name: string): boolean => NOT_SWEPT.has(name) || (!hidden && name.startsWith('.'));
  try {
    const { kind } = await fs.resolve(path);
    if (kind !== 'directory') return undefined;
    let seen = 0;
    for await (const entry of fs.list(path, { depth: SWEEP_DEPTH, skip })) {
      if (entry.credential && entry.kind !== 'directory')
        return { class: 'system_write', reason: `it reads the credential file ${entry.path}, too` };
      seen += 1;
      if (seen >= MAX_SWEPT) return { class: 'system_write', reason: `${path} has too many files to look for credentials` };
    }
    return undefined;
  } catch {
    return { class: 'system_write', reason: `${path} cannot be looked through` };
  }
}

async function unread(path: string, { fs, ledger }: CheckTools): Promise<CheckFinding | undefined> {
  if ((await ledger?.holds(path)) === true) return undefined;
  return { class: 'unread_exec', reason: `${path} was not read in this session, or changed since; ${await scanned(path, fs)}` };
}

async function armed(path: string, { fs, place }: CheckTools): Promise<CheckFinding | undefined> {
  const reason = await armedBecause(path, place.workspace, fs);
  return reason === undefined ? undefined : { class: 'code_execution', reason: `git can run what the repository names: ${reason}` };
}
