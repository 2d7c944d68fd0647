import { ContainerModule, type ContainerModuleLoadOptions } from 'inversify';
import { createAgent } from '../core/agent/agent.ts';
import { applyPlugins } from '../core/plugins/host.ts';
import { createToolRegistry } from '../core/plugins/registry.ts';
import { createRedactor } from '../core/redact/redactor.ts';
import { loadPlugins, PLUGIN_NAMES } from '../plugins/index.ts';
import { outsideAdapters } from './outside.ts';
import { firstPartyOf, isPlanning, openPlanDesk, PLAN_TOOL } from './planning.ts';
import { createProvider } from './provider.ts';
import { agentSettings } from './settings.ts';
import { openSinks, reportEvent } from './sinks.ts';
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
  single(
    TOKENS.processes,
    async (environment) => (await import('../adapters/process/node.ts')).createProcessRunner({ environment: environment.env }),
    [TOKENS.environment],
  );
  single(
    TOKENS.guardedHttp,
    async (environment) => {
      const { createHttpClient } = await import('../adapters/http/index.ts');
      return createHttpClient({ mode: 'guarded', allowHosts: environment.config.network.allow_hosts });
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
  single(TOKENS.tools, ({ config, dataDirOf }) => filterTools(createToolRegistry({ dataDirOf, reserved: PLAN_TOOL }), config.tools), [
    TOKENS.environment,
  ]);
  single(
    TOKENS.plans,
    ({ config, builtIns }, hash, redactor) => (isPlanning(config, builtIns) ? openPlanDesk(config, hash, redactor) : undefined),
    [TOKENS.environment, TOKENS.hash, TOKENS.redactor],
  );
  single(
    TOKENS.plugins,
    async (environment, plan, registry, validator, fs, process, clock, edges) => {
      const wanted = environment.builtIns ?? PLUGIN_NAMES;
      const plugins = await loadPlugins(wanted.filter((name) => plan !== undefined || name !== PLAN_TOOL.plan));
      const logger = { log: (level: string, message: string) => edges.log(level, message) };
      return applyPlugins([...plugins, ...(edges.plugins ?? [])], {
        registry,
        validator,
        clock,
        configs: {},
        services: { fs, process, logger, ...(plan && { plan }) },
      });
    },
    [TOKENS.environment, TOKENS.plans, TOKENS.tools, TOKENS.validator, TOKENS.fileSystem, TOKENS.processes, TOKENS.clock, TOKENS.edges],
  );
  single(
    TOKENS.agent,
    // The plugins are named so that their tools are there before the agent is.
    (policy, environment, provider, tools, plans, _plugins, validator, fs, clock, ids, hash, redactor, sinks, edges) =>
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
          ...(edges.approver && { approver: edges.approver }),
          ...(plans && { plans }),
          isFirstParty: firstPartyOf(environment.builtIns),
          emit: (event) => reportEvent(event, edges, sinks, environment),
        },
        agentSettings(environment, policy),
      ),
    [
      TOKENS.policy,
      TOKENS.environment,
      TOKENS.provider,
      TOKENS.tools,
      TOKENS.plans,
      TOKENS.plugins,
      TOKENS.validator,
      TOKENS.fileSystem,
      TOKENS.clock,
      TOKENS.ids,
      TOKENS.hash,
      TOKENS.redactor,
      TOKENS.sinks,
      TOKENS.edges,
    ],
  );
  single(
    TOKENS.root,
    (agent, store, ids, clock, redactor, provider, sinks, plugins) => ({ agent, store, ids, clock, redactor, provider, sinks, plugins }),
    [TOKENS.agent, TOKENS.store, TOKENS.ids, TOKENS.clock, TOKENS.redactor, TOKENS.provider, TOKENS.sinks, TOKENS.plugins],
  );
});
