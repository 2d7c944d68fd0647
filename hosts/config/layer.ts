import { DANGER_CLASSES } from '../../ports/approval.ts';
import { ConfigError } from '../../ports/errors.ts';
import { suggestion } from '../cli/nearest.ts';
import { checkValue, invalid, isObject, short } from './check-value.ts';
import { expand, SECRET_NAME } from './expand.ts';
import type { KeySpec } from './key-spec.ts';
import { CONFIG_KEYS } from './keys.ts';
import { PLUGIN_NAME, refuseForeignSettings } from './plugin-keys.ts';
import { NEVER_SCHEDULED } from './schedule-keys.ts';
import type { ConfigValue } from './types.ts';

/** One value of one layer, checked. `key` is dotted, with the operator's own names filled in. */
export interface Entry {
  readonly key: string;
  readonly spec: KeySpec;
  readonly value: ConfigValue;
}

export interface FileLayerOptions {
  readonly path: string;
  /** A project may set less and see less. */
  readonly project: boolean;
  readonly lookup: (name: string) => string | undefined;
  /** Variables that a project's file must not see. */
  readonly isSecret: (name: string) => boolean;
  readonly warn: (text: string) => void;
  /** Is told every secret that was put into the file. */
  readonly secret: (value: string) => void;
}

interface Walk extends FileLayerOptions {
  readonly entries: Entry[];
  /** No more warnings are told. */
  readonly isFull: () => boolean;
}

/** Warnings that one file may give; nobody reads more. */
const MAX_WARNINGS = 100;

function bounded({ warn, path }: FileLayerOptions): Pick<Walk, 'warn' | 'isFull'> {
  let told = 0;
  return {
    isFull: () => told > MAX_WARNINGS,
    warn(text) {
      told += 1;
      if (told <= MAX_WARNINGS) warn(text);
      if (told === MAX_WARNINGS + 1) warn(`${path}: there are more such warnings, which are not shown`);
    },
  };
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/;
const MODEL = /^[\x21-\x7e]{1,256}$/;

/** Checks a parsed configuration file and returns what it sets. Throws `ConfigError` for a value that is wrong. */
export function readLayer(document: Readonly<Record<string, unknown>>, options: FileLayerOptions): Entry[] {
  const walk: Walk = { ...options, ...bounded(options), entries: [] };
  if (!options.project) refuseForeignSettings(document, options.path);
  visitMembers(withoutAlias(document, options.path), [], CONFIG_KEYS, walk);
  return walk.entries;
}

const SERVERS = 'mcp_servers';
const SERVERS_ALIAS = 'mcpServers';

/** Other programs write `mcpServers`; the same block means the same here. */
function withoutAlias(document: Readonly<Record<string, unknown>>, path: string): Readonly<Record<string, unknown>> {
  const { [SERVERS_ALIAS]: servers, ...rest } = document;
  if (servers === undefined) return document;
  if (document[SERVERS] === undefined) return { ...rest, [SERVERS]: servers };
  throw new ConfigError('invalid_value', `${path} has both ${SERVERS} and ${SERVERS_ALIAS}, which mean the same; keep one of them`, {
    value: SERVERS_ALIAS,
  });
}

function visitMembers(value: Readonly<Record<string, unknown>>, path: readonly string[], specs: readonly KeySpec[], walk: Walk): void {
  for (const [name, member] of Object.entries(value)) {
    if (name.startsWith('//') || name === '$schema' || member === null) continue;
    const fitting = specs.filter((spec) => fits(spec, path.length, name));
    if (fitting.length === 0) warnUnknown(path, name, specs, walk);
    else visit(member, [...path, name], fitting, walk);
  }
}

function visit(value: unknown, path: readonly string[], specs: readonly KeySpec[], walk: Walk): void {
  const key = path.join('.');
  if (walk.project && specs.every((spec) => spec.project === 'ignored' || spec.project === 'rejected')) {
    const how = specs.some((spec) => spec.project === 'rejected') ? 'is rejected' : 'is ignored';
    walk.warn(`${walk.path}: ${key} ${how}: a project cannot set it`);
    return;
  }
  checkName(path, specs, walk);
  const leaf = specs.find((spec) => spec.key.split('.').length === path.length);
  if (leaf !== undefined) addEntry(leaf, key, value, walk);
  else if (isObject(value)) visitMembers(value, path, specs, walk);
  else {
    throw new ConfigError('invalid_value', `${key} must be an object, not ${short(value)} (${walk.path})`, { value, limit: 'an object' });
  }
}

function addEntry(spec: KeySpec, key: string, raw: unknown, walk: Walk): void {
  let expanded = false;
  const put = (text: string): string => {
    const result = expand(text, (name) => (walk.project && walk.isSecret(name) ? undefined : walk.lookup(name)));
    for (const name of result.missing) walk.warn(`${walk.path}: ${key} names $${name}, which ${whyMissing(name, walk)}`);
    for (const name of result.names) if (SECRET_NAME.test(name) && !result.missing.includes(name)) walk.secret(walk.lookup(name) ?? '');
    expanded ||= result.names.length > 0;
    return result.text;
  };
  const value = spec.literal === true ? raw : mapMembers(raw, spec.literalMembers ?? [], put);
  // A secret that is not set is not given: the next source of the key counts.
  if (expanded && value === '') return;
  const origin = { key, where: walk.path, fromText: expanded && spec.type !== 'list', shown: raw };
  const checked = checkValue(spec, value, origin, walk.warn);
  if (checked !== 'deny' && isFixedClass(key)) throw invalid(spec, raw, origin, '"deny": this class never changes');
  walk.entries.push({ key, spec, value: checked });
}

/** A class that no configuration can allow. */
export function isFixedClass(key: string): boolean {
  const scheduled = /^schedules\.dangerous\.classes\.(.*)$/.exec(key)?.[1];
  return key === 'dangerous.classes.blocked' || NEVER_SCHEDULED.some((cls) => cls === scheduled);
}

function whyMissing(name: string, walk: Walk): string {
  return walk.project && walk.isSecret(name) ? 'a project cannot read' : 'is not set';
}

/** The strings of a value changed, but not below the members that are named. */
function mapMembers(value: unknown, literal: readonly string[], change: (text: string) => string): unknown {
  if (literal.length === 0 || !isObject(value)) return mapStrings(value, change);
  const members = Object.entries(value).map(([name, member]) => [name, literal.includes(name) ? member : mapStrings(member, change)]);
  return Object.fromEntries(members);
}

function mapStrings(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((entry) => mapStrings(entry, change));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapStrings(member, change)]));
}

function fits(spec: KeySpec, depth: number, name: string): boolean {
  const segment = spec.key.split('.')[depth];
  return segment !== undefined && (segment === name || segment.startsWith('<'));
}

/** Throws where a name that the operator chose is none, such as a danger class that does not exist. */
function checkName(path: readonly string[], specs: readonly KeySpec[], walk: Walk): void {
  const segment = specs[0]?.key.split('.')[path.length - 1];
  const name = path.at(-1) ?? '';
  const refuse = (limit: string): never => {
    throw new ConfigError(
      'invalid_value',
      `${path.slice(0, -1).join('.')} has the entry ${short(name)}, which must be ${limit} (${walk.path})`,
      {
        value: name,
        limit,
      },
    );
  };
  if (segment === '<class>' && !(DANGER_CLASSES as readonly string[]).includes(name)) {
    refuse(`a danger class${suggestion(name, DANGER_CLASSES)}`);
  }
  if ((segment === '<id>' || segment === '<name>') && !NAME.test(name)) refuse('1 to 64 of letters, digits, - and _');
  if (segment === '<plugin>' && !PLUGIN_NAME.test(name)) refuse('the name of a plugin: 1 to 64 of a-z, 0-9, "-" and "."');
  if (segment === '<model>' && !MODEL.test(name)) refuse('1 to 256 printable characters without spaces');
}

function warnUnknown(path: readonly string[], name: string, specs: readonly KeySpec[], walk: Walk): void {
  // To look for the nearest key takes its time, which a file of many keys must not take.
  if (walk.isFull()) return;
  const siblings = new Set(specs.map((spec) => spec.key.split('.')[path.length] ?? '').filter((segment) => !segment.startsWith('<')));
  const show = (match: string): string => [...path, match].join('.');
  const dotted = [...path, name].join('.').slice(0, 200);
  walk.warn(`${walk.path}: unknown key ${dotted} is ignored${suggestion(name, siblings, show)}`);
}
