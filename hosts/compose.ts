import { Container } from 'inversify';
import { createRedactor, type Redactor } from '../core/redact/redactor.ts';
import type { Clock } from '../ports/clock.ts';
import { unenforcedCostLimit } from './cost-limit.ts';
import type { Edges, HostEnvironment, Root } from './environment.ts';
import { agentModule, systemModule, worldModule } from './modules.ts';
import type { HostPolicy } from './policy.ts';
import { TOKENS, type Token } from './tokens.ts';

export interface Composed {
  readonly root: Root;
  /** Gives everything back, in reverse order of making, each with a bound. Idempotent. */
  close(): Promise<void>;
}

/** A little more than an MCP server has to go by itself and then to be killed. */
const CLOSE_TIMEOUT_MS = 9_000;

async function bounded(clock: Clock, work: () => Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const stop = clock.after(CLOSE_TIMEOUT_MS, late.resolve);
  // One part that cannot be closed must not keep the others open.
  await Promise.race([work().catch(() => {}), late.promise]);
  stop();
}

/** Closes one part after the other, each within 9 s. Never rejects. */
export async function closeInOrder(clock: Clock, parts: readonly (() => Promise<unknown>)[]): Promise<void> {
  for (const part of parts) await bounded(clock, part);
}

/** What parts of odek have to say, with every secret masked. */
function maskedLog({ config }: HostEnvironment, { log }: Edges): Edges['log'] {
  let redactor: Redactor | undefined;
  return (level, text) => {
    redactor ??= createRedactor(config.secrets);
    log(level, redactor.text(text));
  };
}

/** Gives what a token stands for, made with everything that it needs and nothing else. */
type Get = <Bound>(token: Token<Bound>) => Promise<Bound>;

/** Takes what `visit` asks for out of a fresh container. Rejects with the first setup error, and then has left nothing running. */
export async function take<Parts>(
  policy: HostPolicy,
  environment: HostEnvironment,
  edges: Edges,
  visit: (get: Get) => Promise<Parts>,
): Promise<Parts> {
  const container = new Container({ defaultScope: 'Singleton' });
  container.bind(TOKENS.policy).toConstantValue(policy);
  container.bind(TOKENS.environment).toConstantValue(environment);
  container.bind(TOKENS.edges).toConstantValue({ ...edges, log: maskedLog(environment, edges) });
  container.load(systemModule, worldModule, agentModule);
  const get: Get = async (token) => (await container.getAsync(token as symbol)) as never;
  try {
    return await visit(get);
  } catch (error) {
    // Servers may be running, or starting, when something else fails.
    await (await get(TOKENS.mcpBoard)).close();
    throw error;
  }
}

/** Builds one host process or session: a fresh container, visited once. Rejects with the first setup error. */
export async function compose(policy: HostPolicy, environment: HostEnvironment, edges: Edges): Promise<Composed> {
  const root = await take(policy, environment, edges, (get) => get(TOKENS.root));
  const unenforced = unenforcedCostLimit(environment.config, environment.selection.model);
  if (unenforced !== undefined) edges.log('warning', unenforced);
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    const parts = [
      () => root.extensions.close(),
      () => root.mcp.close(),
      () => root.plugins.dispose(),
      async () => root.jobs?.closeAll(),
      () => root.sandbox.close(),
      () => root.provider.close(),
      () => root.sinks.close(),
      () => root.store.close(),
    ];
    await closeInOrder(root.clock, parts);
  };
  return {
    root,
    close: () => {
      closing ??= closeAll();
      return closing;
    },
  };
}
