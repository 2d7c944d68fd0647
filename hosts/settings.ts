import { isAbsolute, resolve } from 'node:path';
import { hostPort } from '../adapters/http/destination.ts';
import type { AgentSettings } from '../core/agent/settings.ts';
import { verifySettings } from '../core/verification/verification-stage.ts';
import type { HostEnvironment } from './environment.ts';
import { choose, type HostPolicy, SCALES } from './policy.ts';

const SHARED_TEMP = ['/tmp', '/var/tmp'];
const TOOL_TIMEOUT_MS = 30 * 60_000;
const SIDE_CALL_TIMEOUT_MS = 30_000;

/** The agent's settings as the configuration has them, held under the surface's ceilings. `sandbox`: whether commands run in one. */
export function agentSettings(environment: HostEnvironment, policy: HostPolicy, sandbox = false): AgentSettings {
  const { config, selection } = environment;
  const verify = verifySettings(config.verify);
  return {
    model: selection.model,
    systemPrompt: environment.systemPrompt,
    workspace: environment.workspace,
    maxIterations: config.max_iterations,
    maxToolParallel: config.max_tool_parallel,
    toolTimeoutMs: TOOL_TIMEOUT_MS,
    approvalTimeoutMs: config.dangerous.approval_timeout_seconds * 1000,
    sideCallTimeoutMs: SIDE_CALL_TIMEOUT_MS,
    stream: config.stream,
    compaction: config.compaction,
    announceBudget: config.announce_budget,
    ...(config.thinking !== '' && { thinking: config.thinking }),
    ...(config.temperature >= 0 && { temperature: config.temperature }),
    ...(config.max_tokens !== undefined && { maxTokens: config.max_tokens }),
    limits: config.limits,
    prices: {
      ...(config.input_cost_per_million_usd !== undefined && { input_cost_per_million_usd: config.input_cost_per_million_usd }),
      ...(config.output_cost_per_million_usd !== undefined && { output_cost_per_million_usd: config.output_cost_per_million_usd }),
      model_prices: config.model_prices,
    },
    danger: {
      classes: config.dangerous.classes,
      allowlist: config.dangerous.allowlist,
      denylist: config.dangerous.denylist,
      ...(config.dangerous.action !== undefined && { action: config.dangerous.action }),
      ...(config.dangerous.never && { never: config.dangerous.never }),
      nonInteractive: choose(policy.nonInteractive, config.dangerous.non_interactive, SCALES.nonInteractive).value,
    },
    ...placesOf(environment.env),
    reachableHosts: reachableHosts(config),
    sandbox,
    ...(verify !== undefined && { verify }),
  };
}

/** What the operator named in words: the hosts that are admitted, and the search engine. */
function reachableHosts({ network, web_search }: HostEnvironment['config']): readonly string[] {
  return web_search.base_url === undefined ? network.allow_hosts : [...network.allow_hosts, hostPort(new URL(web_search.base_url))];
}

/** Places that a command line can name without writing them out. */
function placesOf({ HOME, TMPDIR }: HostEnvironment['env']): Pick<AgentSettings, 'home' | 'tempDirs'> {
  const isPlace = (path: string | undefined): path is string => path !== undefined && isAbsolute(path) && resolve(path) !== '/';
  return {
    ...(isPlace(HOME) && { home: resolve(HOME) }),
    tempDirs: [...SHARED_TEMP, ...(isPlace(TMPDIR) && TMPDIR !== HOME ? [resolve(TMPDIR)] : [])],
  };
}
