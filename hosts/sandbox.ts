import { isAbsolute, resolve } from 'node:path';
import type { Sandbox, SandboxUnavailable } from '../adapters/process/sandbox/sandbox.ts';
import { PLUGIN_NAMES, type PluginName } from '../plugins/index.ts';
import { ConfigError, hasCode } from '../ports/errors.ts';
import type { ResolvedConfig } from './config/types.ts';
import type { Edges, HostEnvironment, HostSandbox } from './environment.ts';
import { choose, type HostPolicy, SCALES } from './policy.ts';
import { agreedSettings, isOn, type SandboxSettings } from './sandbox-approval.ts';

type SandboxDuty = 'required' | 'preferred' | 'off';

const NONE: HostSandbox = { close: async () => {} };
const UNITS: Readonly<Record<string, number>> = { b: 1, k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
const OFF = 'turn it off for this call with --no-sandbox';

/**
 * Whether commands are to be kept apart on a surface. Throws `ConfigError` `sandbox_required` where
 * it is asked for and turned off at once.
 */
export function sandboxDuty(
  config: Pick<ResolvedConfig, 'sandbox' | 'sandbox_required'>,
  { sandbox: cell }: Pick<HostPolicy, 'sandbox'>,
): SandboxDuty {
  if (config.sandbox_required) {
    if (config.sandbox !== false) return 'required';
    throw new ConfigError(
      'sandbox_required',
      'the sandbox is both required (sandbox_required, ODEK_REQUIRE_SANDBOX or --sandbox) and turned off (sandbox: false, ODEK_NO_SANDBOX or --no-sandbox)',
      { value: false },
    );
  }
  const wish = config.sandbox === undefined ? undefined : config.sandbox ? 'preferred' : 'opt_in';
  const { value } = choose(cell, wish, SCALES.sandbox);
  if (value === 'required' || value === 'preferred') return value;
  // `config` and `inherit` are no places of the scale: there the key alone decides.
  return config.sandbox === true ? 'preferred' : 'off';
}

/** Whether a host runs commands at all. */
function hasCommands({ tools }: Pick<ResolvedConfig, 'tools'>, builtIns: readonly PluginName[] = PLUGIN_NAMES): boolean {
  const isOffered = (tool: string): boolean =>
    (tools.enabled === undefined || tools.enabled.includes(tool)) && !tools.disabled.includes(tool);
  return builtIns.includes('shell') && isOffered('shell');
}

/**
 * The sandbox of a host, tried out. Where there is none: a warning of one line, or `ConfigError`
 * `sandbox_unavailable` where it is required.
 */
export async function openSandbox(policy: HostPolicy, environment: HostEnvironment, edges: Edges): Promise<HostSandbox> {
  const { config, env } = environment;
  const duty = sandboxDuty(config, policy);
  if (duty === 'off' || !hasCommands(config, environment.builtIns)) return NONE;
  const warn = (text: string): void => edges.log('warning', text);
  try {
    const sandbox = await tryBackends(environment, edges, warn);
    const { backend, network, readonly } = sandbox.confinement;
    edges.log(
      'info',
      `commands run in a sandbox: ${backend}, ${network ? 'with a network' : 'no network'}${readonly ? ', read-only' : ''}`,
    );
    return { sandbox, close: () => sandbox.close() };
  } catch (error) {
    if (!hasCode(error, 'sandbox_unavailable')) throw error;
    const { message, advice } = error as SandboxUnavailable;
    if (duty === 'required') {
      throw new ConfigError(
        'sandbox_unavailable',
        `no sandbox, and none may be done without: ${message}; to mend it: ${advice}, or ${OFF}`,
        { cause: error },
      );
    }
    if (!isOn(env.ODEK_SUPPRESS_SANDBOX_WARNING))
      warn(`NO SANDBOX: commands can reach all that you can: ${message}; to mend it: ${advice}`);
    return NONE;
  }
}

/** The name of the backend that a run would take, of which nothing is made. Rejects with `SandboxUnavailable`. */
export async function probeSandbox({ config, env, workspace }: Pick<HostEnvironment, 'config' | 'env' | 'workspace'>): Promise<string> {
  const docker = async (): Promise<string> => {
    const { findDocker } = await import('../adapters/process/sandbox/docker.ts');
    await findDocker(env, workspace);
    return 'docker';
  };
  if (config.sandbox_backend === 'docker') return docker();
  const { openBwrap } = await import('../adapters/process/sandbox/bwrap.ts');
  const place = { environment: env, workspace, stateDir: config.state.home, home: homeOf(env) };
  try {
    await openBwrap({ ...place, network: false, readonly: config.sandbox_readonly });
    return 'bwrap';
  } catch (error) {
    if (config.sandbox_backend === 'bwrap' || !hasCode(error, 'sandbox_unavailable')) throw error;
    return docker().catch((second: Error) => Promise.reject(withReason(error as SandboxUnavailable, second)));
  }
}

/** The first backend that runs, none made yet. Rejects with `SandboxUnavailable`. */
async function tryBackends(environment: HostEnvironment, edges: Edges, warn: (text: string) => void): Promise<Sandbox> {
  const { sandbox_backend: wanted } = environment.config;
  if (wanted === 'docker') return docker(environment, edges, warn);
  try {
    return await bwrap(environment, edges, warn);
  } catch (error) {
    if (wanted === 'bwrap' || !hasCode(error, 'sandbox_unavailable')) throw error;
    return docker(environment, edges, warn).catch((second: unknown) => {
      throw hasCode(second, 'sandbox_unavailable') ? withReason(error as SandboxUnavailable, second) : second;
    });
  }
}

function withReason(first: SandboxUnavailable, { message }: Error): SandboxUnavailable {
  first.message = `${first.message}, and ${message}`;
  return first;
}

async function bwrap(environment: HostEnvironment, edges: Edges, warn: (text: string) => void): Promise<Sandbox> {
  const { openBwrap } = await import('../adapters/process/sandbox/bwrap.ts');
  const settings = await agreedSettings(environment, edges, { keys: ['sandbox_network', 'sandbox_memory'], dockerfile: false });
  const network = networkOf(settings, warn);
  if (network !== 'none') warn(`sandbox_network ${JSON.stringify(network)}: bwrap shares the network of this machine, 127.0.0.1 included`);
  if (settings.sandbox_cpus !== undefined) warn(`sandbox_cpus ${settings.sandbox_cpus} has no effect: bwrap cannot limit processors`);
  return openBwrap({
    ...placeOf(environment),
    home: homeOf(environment.env),
    remember: true,
    network: network !== 'none',
    readonly: settings.sandbox_readonly,
    ...(settings.sandbox_memory !== undefined && { memoryBytes: bytesOf(settings.sandbox_memory) }),
  });
}

async function docker(environment: HostEnvironment, edges: Edges, warn: (text: string) => void): Promise<Sandbox> {
  const [{ findDocker, openDocker }, { buildImage }] = await Promise.all([
    import('../adapters/process/sandbox/docker.ts'),
    import('../adapters/process/sandbox/docker-image.ts'),
  ]);
  const place = placeOf(environment);
  const client = await findDocker(place.environment, place.workspace);
  const keys = ['sandbox_image', 'sandbox_network', 'sandbox_memory', 'sandbox_cpus', 'sandbox_user'] as const;
  const settings = await agreedSettings(environment, edges, { keys, dockerfile: true });
  const image =
    settings.dockerfile === undefined
      ? settings.sandbox_image
      : await buildImage(client, { ...place, dockerfile: settings.dockerfile, network: isOn(environment.env.ODEK_SANDBOX_BUILD_NETWORK) });
  return openDocker(client, {
    ...place,
    network: networkOf(settings, warn),
    readonly: settings.sandbox_readonly,
    ...(image !== undefined && { image }),
    ...(settings.sandbox_user !== undefined && { user: settings.sandbox_user }),
    ...(settings.sandbox_memory !== undefined && { memory: settings.sandbox_memory }),
    ...(settings.sandbox_cpus !== undefined && { cpus: settings.sandbox_cpus }),
  });
}

/** A container in the machine's own network would not be kept apart from what listens there. */
function networkOf({ sandbox_network: network }: SandboxSettings, warn: (text: string) => void): string {
  if (network !== 'host') return network;
  warn('sandbox_network "host" counts as "none"');
  return 'none';
}

function placeOf({ env, workspace, config }: HostEnvironment) {
  return { environment: env, workspace, stateDir: config.state.home };
}

function homeOf({ HOME }: HostEnvironment['env']): string | undefined {
  return HOME !== undefined && isAbsolute(HOME) && resolve(HOME) !== '/' ? resolve(HOME) : undefined;
}

function bytesOf(size: string): number {
  const unit = /[bkmg]$/i.exec(size)?.[0].toLowerCase() ?? 'b';
  return Number.parseInt(size, 10) * (UNITS[unit] ?? 1);
}
