import { join, resolve } from 'node:path';
import { isSecretName } from '../../adapters/process/environment.ts';
import { type BundleMcpDefinition, withPlaces } from '../../core/bundles/mcp-file.ts';
import type { Hash } from '../../ports/hash.ts';
import type { McpServer } from '../../ports/mcp.ts';

const MAX_NAME = 64;
const HASH_CHARS = 8;
const DEFAULTS = {
  timeoutMs: 30_000,
  maxResponseBytes: 10_485_760,
  maxResultChars: 200_000,
  artifactRoots: [],
  autoApprove: false,
  approve: 'register',
} as const;

export interface ServerPlaces {
  readonly plugin: string;
  /** Absolute folder of the copy that was reviewed. */
  readonly root: string;
  /** Absolute folder that the bundle may write. */
  readonly data: string;
}

/**
 * A server of a bundle as it is started. That it may start was agreed to with the review, which showed its command
 * line; an address is reached like a project's, without any exemption. Its tools are asked about as everybody's are.
 */
export function bundleServer(definition: BundleMcpDefinition, places: ServerPlaces, hash: Hash): McpServer {
  const name = serverName(places.plugin, definition.name, hash);
  if (definition.transport === 'http') {
    return { ...DEFAULTS, name, origin: 'project', protocol: 'auto', transport: 'http', url: definition.url };
  }
  const { command, args, env, cwd } = definition;
  const expanded = Object.entries(env).filter(([key]) => !isSecretName(key));
  return {
    ...DEFAULTS,
    name,
    origin: 'operator',
    protocol: '2025-03-26',
    transport: 'stdio',
    command: command.startsWith('./') ? join(places.root, command) : command,
    args: args.map((arg) => withPlaces(arg, places)),
    env: {
      ...Object.fromEntries(expanded.map(([key, value]) => [key, withPlaces(value, places)])),
      PLUGIN_ROOT: places.root,
      PLUGIN_DATA: places.data,
    },
    cwd: resolve(places.root, withPlaces(cwd, places)),
  };
}

/** `<plugin>_<server>`, with a mark where that is no name of a server or could be another's; no other pair has the same. */
function serverName(plugin: string, server: string, hash: Hash): string {
  const whole = `${plugin}_${server}`;
  if (whole.length <= MAX_NAME && !/\.|__/.test(whole)) return whole;
  const mark = hash.sha256(JSON.stringify([plugin, server])).slice(0, HASH_CHARS);
  const plain = whole.replaceAll('.', '-').replaceAll(/_{2,}/g, '_');
  return `${plain.slice(0, MAX_NAME - HASH_CHARS - 1).replace(/_$/, '')}-${mark}`;
}
