import type { Context } from '@deepseek-ai/cordis';
import { messageOf } from '../../adapters/extension-host/channel.ts';
import type { ActivateParams, ActivateResult, DeactivateResult, EntryOutcome, OwnerRef } from '../../ports/extension-host.ts';
import type { SharedRoot } from './context.ts';
import { isFields } from './fields.ts';
import type { Link } from './link.ts';
import { createLinker, type Linker, type ModuleMembers } from './linker.ts';
import { assign, type Entry, type Owner, runAs } from './owners.ts';
import type { Registrations } from './registrations.ts';
import { clearTimers } from './timers.ts';

export interface ActivationParts {
  readonly shared: SharedRoot;
  readonly registrations: Registrations;
  readonly link: Link;
  readonly packages: ReadonlyMap<string, ModuleMembers>;
  readonly builtins: ReadonlyMap<string, ModuleMembers>;
}

export interface Activations {
  activate(params: ActivateParams): Promise<ActivateResult>;
  deactivate(ref: OwnerRef): Promise<DeactivateResult>;
  /** The owner whose code stands in a stack trace. */
  byStack(stack: string): Owner | undefined;
}

type Fiber = Context['fiber'];

interface Active {
  readonly owner: Owner;
  readonly fiber: Fiber;
  readonly entries: Entry[];
  readonly label: string;
}

const ACTIVE = 2;
const PENDING = 0;
const APPLY_MS = 5_000;
const DISPOSE_MS = 2_000;
const MAX_DIAGNOSTIC = 4_096;
const MAX_LABELS = 256;
/** As they are before any plugin runs. */
const later = setTimeout;
const sooner = clearTimeout;

export function createActivations(parts: ActivationParts): Activations {
  const { shared, registrations } = parts;
  const active = new Map<string, Active>();

  const activate = async (params: ActivateParams): Promise<ActivateResult> => {
    const { owner: ref, plugin_name: name, root, files } = params;
    if (active.has(ref.owner_token)) throw new Error(`plugin "${name}" is active already`);
    const owner: Owner = {
      ...{ ref, name, dataDir: params.data_dir, services: new Set(params.services), closed: false },
      ...{ running: new Set(), timers: new Set(), warned: new Set() },
    };
    const label = `plugin:${ref.plugin_id}@${ref.generation}`;
    let context: Context | undefined;
    await shared.root.plugin({
      name: ref.plugin_id,
      apply(ctx: Context) {
        context = ctx;
      },
    });
    if (context === undefined) throw new Error(`plugin "${name}" could not be placed`);
    const mine: Active = { owner, fiber: context.fiber, entries: [], label };
    active.set(ref.owner_token, mine);
    const linker = createLinker({ label, root, files, packages: parts.packages, builtins: parts.builtins });
    const outcomes: EntryOutcome[] = [];
    for (const { path, sha256 } of params.entries) {
      const entry: Entry = { owner, path, pending: new Set(), refusals: [], isActive: false };
      mine.entries.push(entry);
      const isListed = Object.hasOwn(files, path) && files[path] === sha256;
      const diagnostic = isListed
        ? await applied({ entry, context, linker, config: params.config, parts })
        : `"${path}" is not the file that was reviewed`;
      outcomes.push(outcomeOf(entry, diagnostic, registrations));
    }
    if (outcomes.some((each) => each.status === 'ok') && !owner.closed) return { status: 'ok', entries: outcomes };
    await deactivate(ref);
    return { status: 'failed', entries: outcomes };
  };

  const deactivate = async (ref: OwnerRef): Promise<DeactivateResult> => {
    const mine = active.get(ref.owner_token);
    if (mine === undefined) return { disposed: true, leaked: [] };
    active.delete(ref.owner_token);
    const { owner, fiber, entries } = mine;
    owner.closed = true;
    for (const controller of owner.running) controller.abort();
    const disposed = await within(
      DISPOSE_MS,
      runAs({ owner }, async () => fiber.dispose()),
    );
    const labels = disposed ? [] : labelsOf(fiber);
    const timers = clearTimers(owner);
    for (const entry of entries) registrations.drop(entry);
    return { disposed, leaked: [...labels, ...(timers > 0 ? [timers === 1 ? '1 timer' : `${timers} timers`] : [])].slice(0, MAX_LABELS) };
  };

  return {
    activate,
    deactivate,
    byStack: (stack) => [...active.values()].find(({ label }) => stack.includes(`${label}/`))?.owner,
  };
}

interface Application {
  readonly entry: Entry;
  readonly context: Context;
  readonly linker: Linker;
  readonly config: unknown;
  readonly parts: ActivationParts;
}

/** Applies one entry. Empty when it is active; otherwise why it is not, and nothing of it is left. */
async function applied(application: Application): Promise<string> {
  const { entry, context } = application;
  const { owner } = entry;
  let fiber: Fiber | undefined;
  const work = runAs({ owner }, async () => {
    const plugin = await pluginOf(application);
    if (owner.closed) throw new Error('it was disposed while it was being activated');
    fiber = startFiber(context, plugin, application);
    await fiber.await();
    await settled(fiber, entry, application.parts);
  });
  work.catch(() => {});
  try {
    if (!(await within(APPLY_MS, work))) throw new Error(`it was not active within ${APPLY_MS} ms`);
    await work;
    entry.isActive = true;
    return '';
  } catch (error) {
    const own = fiber;
    if (own !== undefined)
      await within(
        DISPOSE_MS,
        runAs({ owner }, async () => own.dispose()),
      );
    application.parts.registrations.drop(entry);
    return `${entry.path}: ${hinted(messageOf(error))}`.slice(0, MAX_DIAGNOSTIC);
  }
}

/** What an entry exports as a plugin, checked against what there is. */
async function pluginOf({
  entry,
  context,
  linker,
  config,
  parts,
}: Application): Promise<{ readonly plugin: PluginLike; readonly schema: unknown }> {
  const module = (await linker.load(entry.path)) as { readonly default?: unknown; readonly Config?: unknown };
  const plugin = 'default' in module && module.default !== undefined ? module.default : module;
  if (!isPlugin(plugin)) throw new Error('it exports neither a function nor an object with apply');
  const schema = plugin.Config ?? module.Config;
  for (const name of injected(plugin.inject)) {
    if (parts.shared.names.has(name) || context.get(name) !== undefined) continue;
    throw new Error(`it injects "${name}", which is not available here`);
  }
  if (schema !== undefined && !isStandardSchema(schema)) await checkConfig(schema, config, entry, parts.link);
  return { plugin, schema };
}

interface PluginLike {
  readonly name?: string;
  readonly inject?: unknown;
  readonly Config?: unknown;
  readonly apply?: unknown;
}

function isPlugin(value: unknown): value is PluginLike {
  return (
    typeof value === 'function' || (typeof value === 'object' && value !== null && 'apply' in value && typeof value.apply === 'function')
  );
}

function injected(inject: unknown): readonly string[] {
  if (Array.isArray(inject)) return inject.map(String);
  return typeof inject === 'object' && inject !== null ? Object.keys(inject) : [];
}

function isStandardSchema(value: unknown): boolean {
  return (typeof value === 'object' || typeof value === 'function') && value !== null && '~standard' in value;
}

/** A plain JSON Schema is core's to check. */
async function checkConfig(schema: unknown, value: unknown, entry: Entry, link: Link): Promise<void> {
  if (!isFields(schema)) throw new Error('its Config is no schema');
  const { issues } = await link.ask<{ readonly issues: readonly string[] }>('schema/check', { owner: entry.owner.ref, schema, value });
  if (issues.length > 0) throw new Error(`its configuration is not valid: ${issues.join('; ')}`);
}

function startFiber(
  context: Context,
  { plugin, schema }: { readonly plugin: PluginLike; readonly schema: unknown },
  { entry, config }: Application,
): Fiber {
  const target = typeof plugin === 'function' ? (plugin as CallableFunction) : undefined;
  const apply = target ?? ((ctx: Context, own: unknown) => (plugin as { apply(ctx: Context, own: unknown): unknown }).apply(ctx, own));
  const shape = {
    name: typeof plugin.name === 'string' && plugin.name !== '' ? plugin.name : entry.owner.name,
    inject: injected(plugin.inject),
    ...(isStandardSchema(schema) && { Config: schema }),
    apply,
  };
  // The fiber runs what it applies in a later turn, so that it is the entry's by then.
  const fiber = (context.plugin as (shape: object, config: unknown) => { readonly ctx: Context })(shape, structuredClone(config)).ctx.fiber;
  assign(fiber, entry);
  return fiber;
}

/** Waits for what it has started and asked for. Rejects when something of it is missing. */
async function settled(fiber: Fiber, entry: Entry, { shared }: ActivationParts): Promise<void> {
  if ((fiber.state as number) !== ACTIVE)
    throw new Error(`it waits for ${Object.keys(fiber.inject).join(', ') || 'something'}, which is not there`);
  const children = (): readonly Fiber[] =>
    [...shared.root.registry.values()].flatMap((runtime) => [...runtime.fibers]).filter((each) => isBelow(each, fiber));
  for (const child of children()) await child.await();
  while (entry.pending.size > 0) await Promise.all(entry.pending);
  if (entry.refusals.length > 0) throw new Error(entry.refusals.join('; '));
  const waiting = children().find((each) => (each.state as number) === PENDING);
  if (waiting !== undefined) throw new Error(`a plugin in it waits for ${Object.keys(waiting.inject).join(', ')}, which is not there`);
}

function isBelow(fiber: Fiber, ancestor: Fiber): boolean {
  for (let each = fiber; each !== each.parent.fiber; each = each.parent.fiber) if (each.parent.fiber === ancestor) return true;
  return false;
}

/** Whether it settled in time. */
async function within(ms: number, work: Promise<unknown>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = later(() => resolve(false), ms);
  });
  const done = work.then(
    () => true,
    () => true,
  );
  const result = await Promise.race([done, late]);
  sooner(timer);
  return result;
}

interface EffectTree {
  readonly label: string;
  readonly children: readonly EffectTree[];
}

function labelsOf(fiber: Fiber): string[] {
  const flat = ({ label, children }: EffectTree): string[] => [label, ...children.flatMap(flat)];
  return (fiber.getEffects() as readonly EffectTree[]).flatMap(flat).slice(0, MAX_LABELS);
}

function outcomeOf(entry: Entry, diagnostic: string, registrations: Registrations): EntryOutcome {
  const live = registrations.of(entry);
  const named = (kind: string): readonly string[] => live.filter((each) => each.spec.kind === kind).map((each) => each.spec.name);
  const effects = live.map(({ spec }) => `${spec.kind.replace('_', ' ')} ${spec.name}`);
  return {
    entry: entry.path,
    status: diagnostic === '' ? 'ok' : 'failed',
    diagnostic,
    tools: named('tool'),
    commands: named('command'),
    effects,
  };
}

/** A type that is imported as a value is the most frequent reason for this one. */
function hinted(message: string): string {
  return /does not provide an export named/.test(message) ? `${message} (for a type, write "import type")` : message;
}
