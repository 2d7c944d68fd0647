import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import { type Agent, createAgent } from '../../../core/agent/agent.ts';
import type { AgentDeps, AgentSettings } from '../../../core/agent/settings.ts';
import { toWireEvent } from '../../../core/events/wire.ts';
import type { JobDesk } from '../../../core/jobs/desk.ts';
import type { McpTool } from '../../../core/mcp/tool.ts';
import { createPlanDesk } from '../../../core/plan/desk.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import planTool from '../../../plugins/plan-tool/index.ts';
import type { Approver } from '../../../ports/approval.ts';
import type { AuditStore } from '../../../ports/audit.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { RunEvent, WireEvent } from '../../../ports/event.ts';
import type { LlmProvider } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { defineTool, type ToolSpec } from '../../../ports/plugin.ts';
import type { RunResult } from '../../../ports/run.ts';
import type { SessionStore, SessionWriter, StoredRecord } from '../../../ports/session.ts';
import { validateWireEvent } from '../../contracts/events.ts';
import { createMemoryAudit } from '../../fakes/audit.ts';
import { createScriptedProvider, type ScriptedReply } from '../../fakes/llm.ts';
import { createMemorySessionStore } from '../../fakes/session-store.ts';

export interface HarnessOptions {
  readonly steps?: readonly ScriptedReply[] | ScriptedReply;
  readonly provider?: LlmProvider;
  readonly tools?: readonly ToolSpec[];
  /** Tools of MCP servers, as a host registers them. */
  readonly mcpTools?: readonly McpTool[];
  readonly settings?: Partial<AgentSettings>;
  readonly approver?: Approver;
  readonly secrets?: readonly string[];
  readonly clock?: Clock;
  readonly jobs?: JobDesk;
  /** Planning is on, with the plan tool and these limits. */
  readonly planning?: { readonly maxSteps?: number; readonly maxRenderChars?: number };
  /** Whether the effects that `tools` declare are believed. */
  readonly trusted?: boolean;
  /** An audit is kept. */
  readonly audited?: boolean;
  /** Tools of a third party, `extension:asker`. */
  readonly foreignTools?: readonly ToolSpec[];
  /** What an agent has beside all that. */
  readonly deps?: Partial<AgentDeps>;
}

export interface Harness {
  readonly agent: Agent;
  readonly sessions: SessionStore;
  readonly audit: AuditStore | undefined;
  readonly workspace: string;
  readonly events: RunEvent[];
  /** The messages of every request, copied when it was made. */
  readonly requests: (readonly Message[])[];
  wire(): WireEvent[];
  types(): string[];
  open(): Promise<SessionWriter>;
  run(task?: string, signal?: AbortSignal): Promise<RunResult>;
  journal(): Promise<readonly StoredRecord[]>;
  close(): Promise<void>;
}

const FOREIGN = 'extension:asker';
const SESSION = '20260101-00000000000000000000000000000001';

/** A provider that remembers what it was asked, as it was then. */
function remembering(provider: LlmProvider, requests: (readonly Message[])[]): LlmProvider {
  return {
    ...provider,
    stream: (request, signal) => {
      requests.push([...request.messages]);
      return provider.stream(request, signal);
    },
  };
}

export async function createHarness(options: HarnessOptions): Promise<Harness> {
  const workspace = await realpath(await mkdtemp(join(tmpdir(), 'odek-agent-')));
  const clock = options.clock ?? createSystemClock();
  const events: RunEvent[] = [];
  const requests: (readonly Message[])[] = [];
  const registry = createToolRegistry();
  for (const tool of options.tools ?? []) registry.registrar('test').register(tool);
  for (const tool of options.foreignTools ?? []) registry.registrar(FOREIGN).register(tool);
  for (const tool of options.mcpTools ?? []) registry.registerMcp(tool);
  const hash = createSha256();
  const redactor = createRedactor(options.secrets ?? []);
  const plans =
    options.planning && createPlanDesk({ maxSteps: 12, maxRenderChars: 2000, hash, redact: redactor.json, ...options.planning });
  if (plans) await planTool.apply({ tools: registry.registrar('plan-tool'), plan: plans }, {});
  const provider = remembering(options.provider ?? createScriptedProvider(options.steps ?? []), requests);
  const { sessions, audit } = options.audited ? createMemoryAudit({ clock }) : { sessions: createMemorySessionStore({ clock }) };
  const agent = createAgent(
    {
      provider,
      tools: registry,
      validator: createSchemaValidator(),
      fs: createDiskFileSystem({ root: workspace, stateDir: join(workspace, '.state') }),
      clock,
      ids: createRandomIds(),
      hash,
      redactor,
      shell: createShellGrammar(),
      ...(plans && { plans }),
      ...(audit && { audit }),
      ...(options.jobs && { jobs: options.jobs }),
      isFirstParty: () => options.trusted === true,
      isForeign: (owner) => owner === FOREIGN,
      ...(options.approver && { approver: options.approver }),
      emit: (event) => events.push(event),
      ...options.deps,
    },
    {
      model: 'test-model',
      systemPrompt: 'You are a test.',
      workspace,
      maxIterations: 10,
      maxToolParallel: 4,
      toolTimeoutMs: 10_000,
      approvalTimeoutMs: 5_000,
      sideCallTimeoutMs: 5_000,
      stream: true,
      limits: {},
      prices: {},
      danger: { classes: {}, allowlist: [], denylist: [], action: 'allow', nonInteractive: 'read_only' },
      sandbox: false,
      ...options.settings,
    },
  );
  let created = false;
  const open = async (): Promise<SessionWriter> => {
    if (created) return sessions.open(SESSION, { waitMs: 0 }, new AbortController().signal);
    created = true;
    return sessions.create({
      id: SESSION,
      title: '',
      provider: 'scripted',
      model: 'test-model',
      workspace,
      listed: true,
      externalRefs: [],
    });
  };
  return {
    agent,
    sessions,
    audit,
    workspace,
    events,
    requests,
    wire: () =>
      events.flatMap((event) => {
        const wire = toWireEvent(event, { includeArgs: false });
        if (!wire) return [];
        validateWireEvent(wire);
        return [wire];
      }),
    types: () => events.map((event) => event.type),
    open,
    run: async (task = 'do it', signal = new AbortController().signal) => {
      const session = await open();
      try {
        return await agent.run({ session, task, signal });
      } finally {
        await session.close();
      }
    },
    journal: async () => (await sessions.read(SESSION)).records,
    close: () => rm(workspace, { recursive: true, force: true }),
  };
}

/** A tool that answers with its input, or does what `act` says. It touches nothing. */
export function fakeTool(
  name: string,
  act: (input: Record<string, unknown>, signal: AbortSignal) => Promise<string> | string = (input) => JSON.stringify(input),
): ToolSpec {
  return defineTool<Record<string, unknown>>({
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object', properties: { n: { type: 'number' }, path: { type: 'string' } } },
    effects: () => ({}),
    execute: async (input, exec) => act(input, exec.signal),
  });
}

export function toolResults(messages: readonly Message[]): string[] {
  return messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []));
}
