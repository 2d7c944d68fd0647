import { type Field, isKnown, literal } from './fields.ts';
import type { Inspection } from './findings.ts';
import { MAX_PATTERN, matchesPattern } from './pattern.ts';
import { absolute, folderOf, isWithin, type Place, RUN_TIME, zoneOf } from './place.ts';
import type { Scope } from './scope.ts';
import { bringsPersistence, isCredential, isPersistent } from './sensitive.ts';

/** The absolute paths that a word can mean; none when that is only known at run time. */
export function pathsOf(field: Field, scope: Scope): readonly string[] {
  if (field.text.includes(RUN_TIME) || field.text === '') return [];
  if (field.text.startsWith('/')) return [absolute(field.text, '/')];
  return scope.folders.map((folder) => absolute(field.text, folder));
}

/** Times that a path goes up again. */
const MAX_CLIMBS = 32;

/** The kernel follows a link before it goes up again, a text does not: every folder that a path goes up from is looked at. */
export function askClimbs({ text }: Field, scope: Scope, inspection: Inspection): void {
  if (!/(?:^|\/)\.\.(?:\/|$)/.test(text) || text.includes(RUN_TIME)) return;
  const segments = text.split('/');
  let climbs = 0;
  let isClimbing = false;
  for (const [index, segment] of segments.entries()) {
    if (segment === '' || segment === '.') continue;
    // Above a folder that no link leads to are only folders of that kind.
    if (segment === '..' && !isClimbing) {
      climbs += 1;
      if (climbs > MAX_CLIMBS) {
        inspection.add('unknown', 'a path goes up and down more often than anybody can follow');
        return;
      }
      // Without a folder before it, it goes up from where the command is.
      const prefix = segments.slice(0, index).join('/') || (index === 0 ? '.' : '/');
      for (const path of pathsOf(literal(prefix), scope)) inspection.ask({ kind: 'climb', path });
    }
    isClimbing = segment === '..';
  }
}

/** Content of a file is read (`list`: only what is there). */
export function judgeRead(field: Field, scope: Scope, inspection: Inspection, use: 'read' | 'list' = 'read'): void {
  if (field.text === '-' || field.text === '') return;
  const paths = pathsOf(field, scope);
  if (paths.length === 0) {
    inspection.add('system_write', 'it reads a path that is only known at run time');
    return;
  }
  askClimbs(field, scope, inspection);
  for (const path of paths) judgeReadAt(path, field, use, inspection);
}

function judgeReadAt(path: string, { glob }: Field, use: 'read' | 'list', inspection: Inspection): void {
  const zone = zoneOf(path, inspection.place);
  if (zone === 'harmless') return;
  if (use === 'read' && isCredential(path, glob)) {
    inspection.add('system_write', `${path} ${glob ? 'can match' : 'is'} a credential file`);
    return;
  }
  if (zone !== 'workspace' && zone !== 'temp') {
    inspection.add('system_write', `${path} is outside the working directory`);
    return;
  }
  inspection.ask({ kind: 'path', path: glob ? stableFolder(path) : path, use: 'read' });
}

/** The shell itself puts the names that a pattern finds into the line, whatever the program does with them. */
export function judgeListed(field: Field, scope: Scope, inspection: Inspection): void {
  if (!field.text.includes('/')) return;
  askClimbs(field, scope, inspection);
  for (const path of pathsOf(field, scope)) {
    const zone = zoneOf(stableFolder(path), inspection.place);
    // The names in the top folder tell nothing.
    if (zone === 'root') continue;
    if (zone !== 'workspace' && zone !== 'temp') inspection.add('system_write', `it lists ${path}, outside the working directory`);
    else inspection.ask({ kind: 'path', path: stableFolder(path), use: 'read' });
  }
}

/** Everything below a folder is read. */
export function judgeSweep(
  field: Field,
  scope: Scope,
  inspection: Inspection,
  how: { readonly hidden: boolean; readonly links?: boolean; readonly ignores?: boolean },
): void {
  judgeRead(field, scope, inspection, 'list');
  for (const path of pathsOf(field, scope)) {
    if (isCredential(path, field.glob) || isCredential(`${path}/x`, field.glob))
      inspection.add('system_write', `${path} is a credential file`);
    if (zoneOf(path, inspection.place) === 'workspace')
      inspection.ask({ kind: 'sweep', path: field.glob ? stableFolder(path) : path, ...how });
  }
}

/** Files are brought to another place, with everything below them. */
export function judgeCarry(source: Field, target: Field, scope: Scope, inspection: Inspection): void {
  for (const path of pathsOf(source, scope)) {
    if (isCredential(`${path}/x`, source.glob)) inspection.add('system_write', `${path} holds credential files`);
    const zone = zoneOf(path, inspection.place);
    if (zone !== 'workspace' && zone !== 'temp') continue;
    const from = source.glob ? stableFolder(path) : path;
    const hidden = !source.glob || path.slice(from.length).startsWith('/.');
    for (const to of pathsOf(target, scope)) inspection.ask({ kind: 'carry', path: from, to: target.glob ? stableFolder(to) : to, hidden });
  }
}

/** An archive or a patch is taken apart; what is in it lands where it says. Without a path, nobody knows what it holds. */
export function judgeUnpack(field: Field | undefined, scope: Scope, inspection: Inspection): void {
  const paths = field === undefined || field.glob || field.text === '-' ? [] : pathsOf(field, scope);
  if (paths.length === 0) inspection.add('persistence', 'nobody knows what it unpacks, and some files make something run later');
  if (field !== undefined && field.text !== '-') judgeRead(field, scope, inspection);
  for (const path of paths) inspection.ask({ kind: 'unpack', path });
}

/** The same for what comes as input. */
export function judgeUnpackedInput(stdin: Field | undefined, scope: Scope, inspection: Inspection): void {
  if (stdin === undefined || !isKnown(stdin)) judgeUnpack(stdin?.file === undefined ? undefined : literal(stdin.file), scope, inspection);
  else if (bringsPersistence(stdin.text)) inspection.add('persistence', 'what it writes makes something run later');
}

/** The path up to its first wildcard. */
function stableFolder(path: string): string {
  const wild = path.search(/[*?[]/);
  return wild < 0 ? path : folderOf(path.slice(0, wild + 1));
}

/** A file is made or changed. `content` is what it will hold, where that is known. */
export function judgeWrite(field: Field, scope: Scope, inspection: Inspection, content?: string): void {
  if (field.text === '') return;
  const paths = pathsOf(field, scope);
  if (paths.length === 0) {
    inspection.add('unknown', 'it writes a path that is only known at run time');
    return;
  }
  askClimbs(field, scope, inspection);
  for (const path of paths) judgeWriteAt(path, field, inspection, content);
}

function judgeWriteAt(path: string, field: Field, inspection: Inspection, content: string | undefined): void {
  const { place } = inspection;
  const network = /^\/dev\/(?:tcp|udp)\//i.exec(path);
  if (network) {
    inspection.add('network_egress', `${path} is a connection`);
    inspection.add('network_upload', `${path} is a connection`);
    return;
  }
  if (isPersistent(path, place, content)) inspection.add('persistence', `${path} makes something run later`);
  switch (zoneOf(path, place)) {
    case 'harmless':
      return;
    case 'workspace':
    case 'temp':
      inspection.ask({ kind: 'path', path: field.glob ? stableFolder(path) : path, use: 'write' });
      {
        inspection.add('local_write', `it writes ${path}`);
        return;
      }
    case 'disk': {
      inspection.add('blocked', `it overwrites the disk ${path}`);
      return;
    }
    case 'root':
    case 'wrecking':
      inspection.add('system_write', `${path} is outside the working directory`);
      {
        inspection.add('destructive', `${path} belongs to the system`);
        return;
      }
    case 'outside': {
      inspection.add('system_write', `${path} is outside the working directory`);
      return;
    }
  }
}

/** A file, or with `recursive` everything below it, goes away. */
export function judgeDelete(field: Field, recursive: boolean, scope: Scope, inspection: Inspection): void {
  if (field.text === '') return;
  if (isRoot(field) && recursive) {
    inspection.add('blocked', 'it deletes the whole file system');
    return;
  }
  const paths = pathsOf(field, scope);
  if (paths.length === 0) {
    inspection.add('unknown', 'it deletes a path that is only known at run time');
    return;
  }
  askClimbs(field, scope, inspection);
  for (const path of paths) judgeDeleteAt(path, recursive, field, inspection);
}

/** `/`, `/*`, `//.`, `/..`: the whole file system. */
function isRoot({ text }: Field): boolean {
  if (!text.startsWith('/')) return false;
  const segments = text.split('/');
  const last = segments.pop() ?? '';
  return segments.every(staysAtRoot) && (staysAtRoot(last) || takesAll(last));
}

function staysAtRoot(segment: string): boolean {
  return segment === '' || segment === '.' || segment === '..';
}

/** A pattern that every name fits, more or less; `.*` also finds `..` in some shells. */
function takesAll(segment: string): boolean {
  if (segment.length > MAX_PATTERN) return /[*?[]/.test(segment);
  const wild = segment.replace(/\[[^\]]*\]/g, '?');
  return wild === '?' || wild === '??' || (wild.includes('*') && [...wild].every((character) => '*?.'.includes(character)));
}

function judgeDeleteAt(path: string, recursive: boolean, field: Field, inspection: Inspection): void {
  const { place } = inspection;
  if (recursive && (path === '/' || (folderOf(path) === '/' && isRoot({ ...field, text: path })))) {
    inspection.add('blocked', 'it deletes the whole file system');
    return;
  }
  const broad = broadTarget(path, place);
  if (broad !== undefined) inspection.add('destructive', broad);
  const zone = zoneOf(path, place);
  if (zone === 'harmless') return;
  if (zone !== 'workspace' && zone !== 'temp') {
    inspection.add('system_write', `${path} is outside the working directory`);
    if (recursive || zone === 'wrecking' || zone === 'disk' || zone === 'root') inspection.add('destructive', `it deletes ${path}`);
    return;
  }
  // A link itself goes away; with a slash behind it, what it leads to.
  const looked = field.glob ? stableFolder(path) : /\/\.?$/.test(field.text) ? path : folderOf(path);
  inspection.ask({ kind: 'path', path: looked, use: 'write' });
  inspection.add('local_write', `it deletes ${path}`);
}

/** Why a target is too broad to delete, if it is. */
function broadTarget(path: string, place: Place): string | undefined {
  const lower = path.toLowerCase();
  const folder = lower.slice(lower.lastIndexOf('/') + 1);
  // A pattern that takes everything stands for the folder it is in.
  const all = takesAll(folder);
  const meant = all ? folderOf(path) : path;
  const kept = [place.workspace, ...(place.home === undefined ? [] : [place.home]), ...place.tempDirs].map((each) => absolute(each, '/'));
  for (const each of kept) if (isWithin(each.toLowerCase(), meant.toLowerCase())) return `it deletes ${meant} and all that is in it`;
  if (matchesPattern(folder, '.git') && !all) return `it deletes the history ${path}`;
  return undefined;
}

/** A script or program file is executed. */
export function judgeScript(field: Field, scope: Scope, inspection: Inspection): void {
  inspection.add('code_execution', `it runs ${shown(field)}`);
  const paths = pathsOf(field, scope);
  if (paths.length === 0) {
    inspection.add('unknown', 'it runs a file that is only known at run time');
    return;
  }
  askClimbs(field, scope, inspection);
  for (const path of paths) {
    if (zoneOf(path, inspection.place) === 'harmless') continue;
    if (isCredential(path, field.glob)) inspection.add('system_write', `${path} is a credential file`);
    inspection.ask({ kind: 'script', path });
  }
}

export function shown({ text }: Field): string {
  return text.replaceAll(RUN_TIME, '…').slice(0, 120);
}
