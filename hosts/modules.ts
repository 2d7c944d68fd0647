import { ContainerModule, type ContainerModuleLoadOptions } from 'inversify';
import { createAgent } from '../core/agent/agent.ts';
import { applyPlugins } from '../core/plugins/host.ts';
import { createToolRegistry } from '../core/plugins/registry.ts';
import { createRedactor } from '../core/redact/redactor.ts';
import { loadPlugins } from '../plugins/index.ts';
import { openArtifactDesk } from './artifacts.ts';
import { hasJobs, openJobDesk } from './background.ts';
import { offeredPlugins } from './built-ins.ts';
import { createCatalogue } from './catalogue.ts';
import { announced } from './clarify.ts';
import { createConfigView } from './config-view.ts';
import { createMcpBoard } from './mcp-client/board.ts';
import { connectMcp } from './mcp-client/connect.ts';
import { guardedProxy } from './network.ts';
import { outsideAdapters } from './outside.ts';
import { firstPartyOf, foreignOf, isPlanning, openPlanDesk, PLAN_TOOL } from './planning.ts';
import { connectPlugins } from './plugin-host/connect.ts';
import { createProvider } from './provider.ts';
import { openSandbox } from './sandbox.ts';
import { openSearchEngine } from './search-engine.ts';
import { agentSettings } from './settings.ts';
import { openSinks, reportEvent } from './sinks.ts';
import { openSkillDesk } from './skills/desk.ts';
import { TOKENS, type Token } from './tokens.ts';
import { filterTools } from './tool-filter.ts';

type TokensOf<Values extends readonly unknown[]> = { readonly [Index in keyof Values]: Token<Values[Index]> };

/** Binds a factory to typed tokens: a wrong order or type of dependencies does not compile. */
function binder({ bind }: ContainerModuleLoadOptions) {
  return <Bound, Values extends unknown[]>(
    token: Token<Bound>,
    factory: (...values: Values) => Bound | Promise<Bound>,
    tokens: TokensOf<Values>,
  ): void => {
    // inversify's own typing of mixed tokens needs decorators; the signature above is the check that counts.
    bind(token as symbol)
      .toResolvedValue(factory as (...values: unknown[]) => unknown, tokens as unknown as symbol[])
      .inSingletonScope();
  };
}

/** Time, randomness, digests, validation: what every surface needs and no configuration changes. */
export const systemModule = new ContainerModule((options) => {
  const single = binder(options);
  single(TOKENS.clock, async () => (await import('../adapters/clock/system.ts')).createSystemClock(), []);
  single(TOKENS.ids, async () => (await import('../adapters/ids/random.ts')).createRandomIds(), []);
  single(TOKENS.hash, async () => (await import('../adapters/hash/sha256.ts')).createSha256(), []);
  single(TOKENS.validator, async () => (await import('../adapters/schema/ajv.ts')).createSchemaValidator(), []);
  single(TOKENS.shell, async () => (await import('../adapters/shell-grammar/unbash.ts')).createShellGrammar(), []);
  single(TOKENS.redactor, (environment) => createRedactor(environment.config.secrets), [TOKENS.environment]);
});

/** What touches the world, made from configuration. */
export const worldModule = new ContainerModule((options) => {
  const single = binder(options);
  single(
    TOKENS.fileSystem,
    async (environment) => {
      const { createDiskFileSystem } = await import('../adapters/fs/disk.ts');
      return createDiskFileSystem({ root: environment.workspace, stateDir: environment.config.state.home });
    },
    [TOKENS.environment],
  );
  single(TOKENS.sandbox, openSandbox, [TOKENS.policy, TOKENS.environment, TOKENS.edges]);
  single(
    TOKENS.processes,
    async ({ env, config }, { sandbox }) => {
      const { createProcessRunner } = await import('../adapters/process/node.ts');
      return createProcessRunner({ environment: env, recordsFolder: config.state.jobsFolder, ...(sandbox && { launcher: sandbox }) });
    },
    [TOKENS.environment, TOKENS.sandbox],
  );
  single(
    TOKENS.guardedHttp,
    async (environment) => {
      const { createHttpClient } = await import('../adapters/http/index.ts');
      return createHttpClient({ mode: 'guarded', allowHosts: environment.config.network.allow_hosts, ...guardedProxy(environment) });
    },
    [TOKENS.environment],
  );
  single(
    TOKENS.store,
    async (policy, environment, clock, ids) => {
      const { openStore } = await import('../adapters/store/index.ts');
      const { state, durability } = environment.config;
      return openStore({ path: state.database, surface: policy.surface, durability, clock, ids });
    },
    [TOKENS.policy, TOKENS.environment, TOKENS.clock, TOKENS.ids],
  );
  single(TOKENS.adapters, (environment) => outsideAdapters(environment.config), [TOKENS.environment]);
  single(TOKENS.provider, createProvider, [TOKENS.environment, TOKENS.adapters, TOKENS.redactor, TOKENS.clock, TOKENS.ids, TOKENS.edges]);
  single(TOKENS.sinks, openSinks, [TOKENS.environment, TOKENS.adapters, TOKENS.guardedHttp, TOKENS.clock, TOKENS.edges]);
});

/** The agent and its tools. */
export const agentModule = new ContainerModule((options) => {
  const single = binder(options);
  single(TOKENS.mcpBoard, createMcpBoard, []);
  single(
    TOKENS.tools,
    ({ config, dataDirOf }, board) => board.watch(filterTools(createToolRegistry({ dataDirOf, reserved: PLAN_TOOL }), config.tools)),
    [TOKENS.environment, TOKENS.mcpBoard],
  );
  single(
    TOKENS.plans,
    ({ config, builtIns }, hash, redactor) => (isPlanning(config, builtIns) ? openPlanDesk(config, hash, redactor) : undefined),
    [TOKENS.environment, TOKENS.hash, TOKENS.redactor],
  );
  single(
    TOKENS.jobs,
    async (environment, { sandbox }, redactor, clock, ids, hash) =>
      hasJobs(environment.config, environment.builtIns) ? openJobDesk(environment, { sandbox, redactor, clock, ids, hash }) : undefined,
    [TOKENS.environment, TOKENS.sandbox, TOKENS.redactor, TOKENS.clock, TOKENS.ids, TOKENS.hash],
  );
  single(TOKENS.artifacts, ({ config }, policy, store) => openArtifactDesk(config, policy, store.artifacts), [
    TOKENS.environment,
    TOKENS.policy,
    TOKENS.store,
  ]);
  single(TOKENS.skills, openSkillDesk, [TOKENS.environment, TOKENS.edges, TOKENS.hash]);
  single(
    TOKENS.services,
    async (policy, { config }, plan, jobs, artifacts, skills, registry, board, fs, process, http, store, clock, ids, edges, redactor) => {
      const { createSessionSearch } = await import('../adapters/session-search/store.ts');
      const searchEngine = await openSearchEngine(config);
      const person = policy.tools.includes('clarify') ? edges.clarifier : undefined;
      return {
        fs,
        process,
        http,
        logger: { log: (level: string, message: string) => edges.log(level, message) },
        sessions: createSessionSearch(store.sessions),
        config: createConfigView(config),
        catalogue: createCatalogue(registry, config.tools, board.servers),
        ...(plan && { plan }),
        ...(jobs && { jobs }),
        ...(artifacts && { artifacts }),
        ...(searchEngine && { searchEngine }),
        ...(skills && { skillCatalogue: skills.catalogue }),
        ...(person && { clarifier: announced(person, edges, clock, ids, redactor.text) }),
      };
    },
    [
      TOKENS.policy,
      TOKENS.environment,
      TOKENS.plans,
      TOKENS.jobs,
      TOKENS.artifacts,
      TOKENS.skills,
      TOKENS.tools,
      TOKENS.mcpBoard,
      TOKENS.fileSystem,
      TOKENS.processes,
      TOKENS.guardedHttp,
      TOKENS.store,
      TOKENS.clock,
      TOKENS.ids,
      TOKENS.edges,
      TOKENS.redactor,
    ],
  );
  single(
    TOKENS.plugins,
    async (environment, services, registry, validator, clock, edges) => {
      const plugins = await loadPlugins(offeredPlugins(services, environment.builtIns));
      return applyPlugins([...plugins, ...(edges.plugins ?? [])], { registry, validator, clock, configs: {}, services });
    },
    [TOKENS.environment, TOKENS.services, TOKENS.tools, TOKENS.validator, TOKENS.clock, TOKENS.edges],
  );
  single(TOKENS.mcp, connectMcp, [
    TOKENS.mcpBoard,
    TOKENS.policy,
    TOKENS.environment,
    TOKENS.edges,
    TOKENS.tools,
    TOKENS.plugins,
    TOKENS.artifacts,
    TOKENS.hash,
    TOKENS.validator,
    TOKENS.redactor,
    TOKENS.clock,
    TOKENS.ids,
  ]);
  single(TOKENS.extensions, connectPlugins, [
    TOKENS.policy,
    TOKENS.environment,
    TOKENS.edges,
    TOKENS.tools,
    TOKENS.plugins,
    TOKENS.mcp,
    TOKENS.artifacts,
    TOKENS.skills,
    TOKENS.fileSystem,
    TOKENS.guardedHttp,
    TOKENS.hash,
    TOKENS.validator,
    TOKENS.redactor,
    TOKENS.clock,
    TOKENS.ids,
  ]);
  single(
    TOKENS.agent,
    // Plugins are named so that their tools are there before the agent is.
    (
      policy,
      environment,
      provider,
      tools,
      plans,
      jobs,
      _plugins,
      extensions,
      validator,
      fs,
      clock,
      ids,
      hash,
      redactor,
      shell,
      sinks,
      edges,
      store,
      { sandbox },
    ) =>
      createAgent(
        {
          provider,
          tools,
          validator,
          fs,
          clock,
          ids,
          hash,
          redactor,
          shell,
          audit: store.audit,
          ...(edges.approver && { approver: edges.approver }),
          ...(plans && { plans }),
          ...(jobs && { jobs }),
          isFirstParty: firstPartyOf(environment.builtIns),
          isForeign: foreignOf(environment.builtIns, edges.plugins),
          foreignBuild: extensions.buildOf,
          preExecute: extensions.preExecute,
          pluginPrompt: extensions.prompt,
          emit: (event) => reportEvent(event, edges, sinks, environment),
        },
        agentSettings(environment, policy, sandbox !== undefined),
      ),
    [
      TOKENS.policy,
      TOKENS.environment,
      TOKENS.provider,
      TOKENS.tools,
      TOKENS.plans,
      TOKENS.jobs,
      TOKENS.plugins,
      TOKENS.extensions,
      TOKENS.validator,
      TOKENS.fileSystem,
      TOKENS.clock,
      TOKENS.ids,
      TOKENS.hash,
      TOKENS.redactor,
      TOKENS.shell,
      TOKENS.sinks,
      TOKENS.edges,
      TOKENS.store,
      TOKENS.sandbox,
    ],
  );
  single(
    TOKENS.root,
    (agent, store, ids, clock, redactor, provider, sinks, plugins, mcp, extensions, jobs, sandbox) => ({
      ...{ agent, store, ids, clock, redactor, provider, sinks, plugins, mcp, extensions, sandbox },
      ...(jobs && { jobs }),
    }),
    [
      TOKENS.agent,
      TOKENS.store,
      TOKENS.ids,
      TOKENS.clock,
      TOKENS.redactor,
      TOKENS.provider,
      TOKENS.sinks,
      TOKENS.plugins,
      TOKENS.mcp,
      TOKENS.extensions,
      TOKENS.jobs,
      TOKENS.sandbox,
    ],
  );
});
