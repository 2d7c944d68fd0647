import type { HandleRow } from '../../core/extensions/handles.ts';
import { LIMITS } from '../../core/extensions/limits.ts';
import { registrationFault } from '../../core/extensions/registration.ts';
import type { Tickets, TicketUse } from '../../core/extensions/tickets.ts';
import { CancelledError, isOdekError } from '../../ports/errors.ts';
import {
  type CoreCallParams,
  HostRefusal,
  type HostRequest,
  type OwnerRef,
  type Registration,
  type ServiceCallParams,
} from '../../ports/extension-host.ts';
import type { CallInHost } from './call.ts';
import { buildOf, type Owned, originOf, type Shared } from './parts.ts';
import { serve } from './services.ts';
import { createHostedTool, type HostedTool } from './tool.ts';

/** The process that a request comes from. */
export interface Asking {
  readonly tickets: Tickets<CallInHost>;
  /** The owner of this very process that is meant, if it is alive. */
  ownerOf(claimed: OwnerRef): Owned | undefined;
  /** Registers what takes the place of a tool that is being started again. */
  register(owned: Owned, name: string, work: () => () => void): () => void;
  /** Whether services are given now: not while code that was turned off is still loaded. */
  isClean(): boolean;
  /** Ends the process: it presents tickets it was not given. */
  endForForgery(): void;
  hosting: Pick<HostedTool, 'host' | 'enter' | 'ticketFor'>;
}

function refuse(message: string): HostRefusal {
  return new HostRefusal('refused', message, 'registration_refused');
}

async function compiled(shared: Shared, schema: Readonly<Record<string, unknown>>, what: string) {
  try {
    return await shared.validator.compile(schema);
  } catch (error) {
    throw refuse(`${what} cannot be used: ${error instanceof Error ? error.message : String(error)}`);
  }
}

type Place = (row: HandleRow) => () => void;

/** Looks at a registration as long as it takes, and gives what puts it in place at once. */
async function prepared(asking: Asking, owned: Owned, spec: Registration, shared: Shared): Promise<Place> {
  const none: Place = () => () => {};
  if (spec.kind === 'tool') {
    const check = await compiled(shared, spec.input_schema, `the input schema of tool "${spec.name}"`);
    if (spec.output_schema !== undefined) await compiled(shared, spec.output_schema, `the output schema of tool "${spec.name}"`);
    const registrar = shared.registry.registrar(originOf(owned.bundle));
    return (row) => {
      const tool = createHostedTool({ owned, row: row as HostedTool['row'], check, ...asking.hosting }, shared);
      return asking.register(owned, spec.name, () => registrar.register(tool));
    };
  }
  if (spec.kind === 'skill_root') {
    const fault = await shared.skillRootFault(owned.bundle, spec.name);
    if (fault !== undefined) throw refuse(fault);
  }
  if (spec.kind !== 'mcp_server') return none;
  const server = shared.serverOf(owned.bundle, spec.name, spec.server);
  if (typeof server === 'string') throw refuse(server);
  if (shared.connectServer === undefined) throw refuse('MCP servers are not connected on this surface');
  return () => shared.connectServer?.(server, owned.bundle.name) ?? (() => {});
}

async function register(asking: Asking, claimed: OwnerRef, entry: string, spec: Registration, shared: Shared, signal: AbortSignal) {
  const owned = asking.ownerOf(claimed);
  if (owned === undefined) throw refuse('the plugin is not active any more');
  if (!owned.bundle.entries.some(({ path }) => path === entry)) throw refuse(`the plugin has no entry "${entry.slice(0, 200)}"`);
  const fault = registrationFault(spec, shared.builtInCommands);
  if (fault !== undefined) throw refuse(fault);
  const place = await prepared(asking, owned, spec, shared);
  // It may have been turned off, or have taken the request back, while schemas were compiled.
  if (signal.aborted) throw new CancelledError();
  const admission = shared.handles.admit(owned.ref, entry, spec);
  if ('refused' in admission) throw refuse(admission.refused);
  const { row } = admission;
  try {
    owned.undo.set(row.handle, place(row));
  } catch (error) {
    shared.handles.undo(owned.ref, row.handle);
    throw refuse(isOdekError(error) ? error.message : `"${spec.name}" cannot be registered`);
  }
  if (spec.kind === 'hook') {
    owned.guards = true;
    shared.guards.set(owned.bundle.id, owned.bundle.name);
  }
  shared.changed();
  return { handle: row.handle };
}

function unregister(asking: Asking, claimed: OwnerRef, handle: string, shared: Shared): Record<string, never> {
  const owned = asking.ownerOf(claimed);
  if (owned === undefined || shared.handles.undo(owned.ref, handle) === undefined) return {};
  owned.undo.get(handle)?.();
  owned.undo.delete(handle);
  if (!shared.handles.owned(owned.ref).some(({ spec }) => spec.kind === 'hook')) shared.guards.delete(owned.bundle.id);
  shared.changed();
  return {};
}

interface Presenting {
  readonly asking: Asking;
  readonly shared: Shared;
  readonly signal: AbortSignal;
}

/** Does work under the ticket of a running call, and no longer than that call runs. */
async function underTicket<Answer>(
  { asking, signal }: Presenting,
  { owner, ticket }: { readonly owner: OwnerRef; readonly ticket: string },
  use: TicketUse,
  work: (call: CallInHost, signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const presented = asking.tickets.present(ticket, owner, use);
  if (presented.kind === 'limit') throw new HostRefusal('refused', presented.text, 'limit');
  if (presented.kind === 'refused') {
    if (presented.endHost) asking.endForForgery();
    throw new HostRefusal('refused', 'there is no running call that could ask for this', 'ticket_refused');
  }
  const { row, done } = presented;
  const both = AbortSignal.any([signal, row.call.signal]);
  try {
    const answer = await dropped(work(row.call, both), both);
    if (both.aborted) throw new HostRefusal('cancelled', 'the call has ended', 'cancelled');
    return answer;
  } finally {
    done();
  }
}

/** Rejects as soon as `signal` fires: an answer that comes later is withheld. */
async function dropped<Answer>(work: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  const gone = Promise.withResolvers<never>();
  const fire = (): void => gone.reject(new HostRefusal('cancelled', 'the call has ended', 'cancelled'));
  if (signal.aborted) fire();
  signal.addEventListener('abort', fire, { once: true });
  work.catch(() => {});
  try {
    return await Promise.race([work, gone.promise]);
  } finally {
    signal.removeEventListener('abort', fire);
  }
}

const REASON = { denied: 'denied', cancelled: 'cancelled', refused: 'refused', skipped_budget: 'unavailable' } as const;

async function coreCall(presenting: Presenting, params: CoreCallParams) {
  return underTicket(presenting, params, 'core', async ({ owned, tool, services, hold }, signal) => {
    if (services === undefined) throw new HostRefusal('unavailable', 'this call does not run under the gate of a turn');
    const caller = { plugin: originOf(owned.bundle), tool, build: buildOf(owned.bundle) };
    const { outcome, text } = await services.call({ name: params.name, input: params.input, caller, signal, hold });
    if (outcome in REASON) throw new HostRefusal(REASON[outcome as keyof typeof REASON], text);
    return { content: text, isError: outcome !== 'completed', ...structuredOf(text) };
  });
}

function structuredOf(text: string): { readonly structured?: unknown } {
  if (!/^\s*[[{]/.test(text)) return {};
  try {
    return { structured: JSON.parse(text) };
  } catch {
    return {};
  }
}

async function serviceCall(presenting: Presenting, params: ServiceCallParams): Promise<unknown> {
  const { asking, shared } = presenting;
  return underTicket(presenting, params, params.service, async (call, signal) => {
    const grants = shared.grants();
    const isGranted = (): boolean =>
      call.services !== undefined && asking.isClean() && call.owned.services.includes(params.service) && shared.isCurrent();
    const refusal = new HostRefusal('refused', `the service "${String(params.service).slice(0, 64)}" is not granted`, 'not_granted');
    if (!isGranted()) throw refusal;
    try {
      const given = await dropped(serve(params, call, shared, AbortSignal.any([signal, grants])), grants);
      if (isGranted()) return given;
    } catch (error) {
      if (!grants.aborted) throw error;
    }
    throw refusal;
  });
}

async function checkSchema(
  asking: Asking,
  { owner, schema, value }: Extract<HostRequest, { method: 'schema/check' }>['params'],
  shared: Shared,
) {
  if (asking.ownerOf(owner) === undefined) throw refuse('the plugin is not active any more');
  if (JSON.stringify(schema).length > LIMITS.schemaBytes) throw refuse(`the schema is longer than ${LIMITS.schemaBytes} bytes`);
  const check = await compiled(shared, schema, 'the schema');
  return {
    issues: check(value)
      .slice(0, LIMITS.schemaIssues)
      .map(({ path, message }) => `${path === '' ? '(value)' : path} ${message}`),
  };
}

/** Answers what a host asks. Everything in a request is foreign, the owner that it names included. */
export async function answer(request: HostRequest, asking: Asking, shared: Shared, signal: AbortSignal): Promise<unknown> {
  switch (request.method) {
    case 'registry/register':
      return register(asking, request.params.owner, request.params.entry, request.params.spec, shared, signal);
    case 'registry/unregister':
      return unregister(asking, request.params.owner, request.params.handle, shared);
    case 'schema/check':
      return checkSchema(asking, request.params, shared);
    case 'core/call':
      return coreCall({ asking, shared, signal }, request.params);
    case 'service/call':
      return serviceCall({ asking, shared, signal }, request.params);
    default:
      throw new HostRefusal('refused', 'core does not answer this');
  }
}
