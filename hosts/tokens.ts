import type { Store } from '../adapters/store/index.ts';
import type { Agent } from '../core/agent/agent.ts';
import type { ArtifactDesk } from '../core/artifacts/desk.ts';
import type { FanOut } from '../core/guards/fan-out.ts';
import type { JobDesk } from '../core/jobs/desk.ts';
import type { PlanDesk } from '../core/plan/desk.ts';
import type { AppliedPlugins } from '../core/plugins/host.ts';
import type { ToolRegistry } from '../core/plugins/registry.ts';
import type { Redactor } from '../core/redact/redactor.ts';
import type { Clock } from '../ports/clock.ts';
import type { FileSystem } from '../ports/file-system.ts';
import type { Hash } from '../ports/hash.ts';
import type { HttpClient } from '../ports/http.ts';
import type { Ids } from '../ports/ids.ts';
import type { LlmProvider } from '../ports/llm.ts';
import type { Services } from '../ports/plugin.ts';
import type { ProcessRunner } from '../ports/process.ts';
import type { SchemaValidator } from '../ports/schema.ts';
import type { ShellGrammar } from '../ports/shell-grammar.ts';
import type { LoadedAdapters } from './adapters.ts';
import type { Edges, HostEnvironment, HostSandbox, Root } from './environment.ts';
import type { McpBoard } from './mcp-client/board.ts';
import type { PluginBoard } from './plugin-host/board.ts';
import type { HostPolicy } from './policy.ts';
import type { SkillDesk } from './skills/skill-desk.ts';

/** An identifier that remembers the type bound to it. */
export type Token<Bound> = symbol & { readonly bound?: Bound };

const token = <Bound>(name: string): Token<Bound> => Symbol(name) as Token<Bound>;

/** Everything a container of odek can hold. */
export const TOKENS = {
  policy: token<HostPolicy>('policy'),
  environment: token<HostEnvironment>('environment'),
  edges: token<Edges>('edges'),
  clock: token<Clock>('clock'),
  ids: token<Ids>('ids'),
  hash: token<Hash>('hash'),
  validator: token<SchemaValidator>('validator'),
  redactor: token<Redactor>('redactor'),
  shell: token<ShellGrammar>('shell grammar'),
  adapters: token<LoadedAdapters>('adapters'),
  operatorHttp: token<HttpClient>('operator http client'),
  guardedHttp: token<HttpClient>('guarded http client'),
  fileSystem: token<FileSystem>('file system'),
  sandbox: token<HostSandbox>('sandbox'),
  processes: token<ProcessRunner>('process runner'),
  provider: token<LlmProvider>('provider'),
  store: token<Store>('store'),
  sinks: token<FanOut>('sinks'),
  tools: token<ToolRegistry>('tools'),
  /** Undefined where planning is off. */
  plans: token<PlanDesk | undefined>('plans'),
  /** Undefined where no tool can hand over artifacts. */
  artifacts: token<ArtifactDesk | undefined>('artifact desk'),
  /** Undefined where there is no folder of skills. */
  skills: token<SkillDesk | undefined>('skill desk'),
  plugins: token<AppliedPlugins>('plugins'),
  /** There always, and empty until `mcp` is asked for. */
  mcpBoard: token<McpBoard>('MCP board'),
  /** The same with its servers connected, where the policy connects any. */
  mcp: token<McpBoard>('MCP client'),
  /** Plugins of third parties. */
  extensions: token<PluginBoard>('plugin board'),
  services: token<Partial<Omit<Services, 'tools'>>>('services of plugins'),
  jobs: token<JobDesk | undefined>('job desk'),
  agent: token<Agent>('agent'),
  root: token<Root>('root'),
} as const;
