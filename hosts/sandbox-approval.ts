import { createHash, randomBytes } from 'node:crypto';
import { constants } from 'node:fs';
import { chmod, mkdir, open, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { displayText } from '../core/approvals/display.ts';
import type { ConfigValue, ResolvedConfig } from './config/types.ts';
import type { Edges, HostEnvironment } from './environment.ts';

/** Keys of the sandbox that a project may ask for. */
type AskedKey = 'sandbox_image' | 'sandbox_network' | 'sandbox_memory' | 'sandbox_cpus' | 'sandbox_user';

export type SandboxSettings = Pick<ResolvedConfig, AskedKey | 'sandbox_readonly'> & {
  /** Text of `Dockerfile.odek` that a person agreed to. */
  readonly dockerfile?: string;
};

interface Wanted {
  readonly keys: readonly AskedKey[];
  /** Whether a `Dockerfile.odek` counts. */
  readonly dockerfile: boolean;
}

const DOCKERFILE = 'Dockerfile.odek';
const MAX_DOCKERFILE_BYTES = 65_536;
const MAX_APPROVALS_CHARS = 1_048_576;
const MAX_APPROVALS = 1000;

/**
 * The operator's settings, with what the project asks for where a person has agreed to it: now, or
 * before to the very same. Without a person nothing of it counts, and a warning says so.
 */
export async function agreedSettings({ config, env, workspace }: HostEnvironment, edges: Edges, wanted: Wanted): Promise<SandboxSettings> {
  const own = ownSettings(config);
  const asked = Object.fromEntries(
    wanted.keys.flatMap((key) => (key in config.askedByProject ? [[key, config.askedByProject[key] as ConfigValue]] : [])),
  );
  const file = wanted.dockerfile && config.sandbox_image === undefined ? await readDockerfile(workspace, edges) : undefined;
  if (Object.keys(asked).length === 0 && file === undefined) return own;
  const digest = file === undefined ? '' : sha256(file);
  const request = { workspace, asked: Object.entries(asked).sort(), dockerfile: digest };
  const key = sha256(JSON.stringify(request));
  const agreed: SandboxSettings = { ...own, ...(asked as Partial<SandboxSettings>), ...(file !== undefined && { dockerfile: file }) };
  const approvals = approvalsFile(config.state.home);
  if (isOn(env.ODEK_APPROVE_PROJECT_SANDBOX) || (await approvals.has(key))) return agreed;
  const what = [
    ...request.asked.map(([name, value]) => `${name} ${JSON.stringify(value)}`),
    ...(file === undefined ? [] : [`an image built from ${DOCKERFILE} (sha256 ${digest.slice(0, 12)})`]),
  ].join(', ');
  const answer = await edges.askOperator?.(
    displayText(`this project wants for its commands: ${what}. Agree? y: this once, t: always, anything else: no`),
  );
  if (answer === undefined) {
    edges.log(
      'warning',
      `the project's wishes for the sandbox are left out, as nobody can be asked: ${what}; ODEK_APPROVE_PROJECT_SANDBOX=1 agrees to them`,
    );
    return own;
  }
  const word = answer.trim().toLowerCase();
  if (word === 't' || word === 'trust') await approvals.add(key, request);
  else if (word !== 'y' && word !== 'yes') return own;
  return agreed;
}

function ownSettings(config: ResolvedConfig): SandboxSettings {
  const { sandbox_image, sandbox_network, sandbox_readonly, sandbox_memory, sandbox_cpus, sandbox_user } = config;
  return {
    sandbox_network,
    sandbox_readonly,
    ...(sandbox_image !== undefined && { sandbox_image }),
    ...(sandbox_memory !== undefined && { sandbox_memory }),
    ...(sandbox_cpus !== undefined && { sandbox_cpus }),
    ...(sandbox_user !== undefined && { sandbox_user }),
  };
}

/** Undefined where there is none, or where it is not one to be used. */
async function readDockerfile(workspace: string, edges: Edges): Promise<string | undefined> {
  const path = join(workspace, DOCKERFILE);
  try {
    const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    try {
      const found = await handle.stat();
      if (found.isFile() && found.size <= MAX_DOCKERFILE_BYTES) return await handle.readFile('utf8');
      edges.log('warning', `${path} is left out: it is no file of at most ${MAX_DOCKERFILE_BYTES} bytes`);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') edges.log('warning', `${path} is left out: ${(error as Error).message}`);
  }
  return undefined;
}

/** What a person trusts for good, by the digest of everything that was asked. */
function approvalsFile(stateDir: string) {
  const path = join(stateDir, 'project_sandbox_approvals.json');
  const read = async (): Promise<Record<string, unknown>> => {
    try {
      const text = await readFile(path, 'utf8');
      const value: unknown = text.length > MAX_APPROVALS_CHARS ? undefined : JSON.parse(text);
      return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
    } catch {
      return {};
    }
  };
  return {
    has: async (key: string): Promise<boolean> => Object.hasOwn(await read(), key),
    async add(key: string, request: unknown): Promise<void> {
      const kept = Object.entries(await read()).slice(1 - MAX_APPROVALS);
      const text = JSON.stringify(
        Object.fromEntries([...kept, [key, { ...(request as object), at: new Date().toISOString() }]]),
        undefined,
        2,
      );
      const fresh = `${path}.${randomBytes(6).toString('hex')}`;
      await mkdir(stateDir, { recursive: true, mode: 0o700 });
      try {
        await writeFile(fresh, text, { mode: 0o600, flag: 'wx' });
        await chmod(fresh, 0o600);
        await rename(fresh, path);
      } catch (error) {
        await rm(fresh, { force: true });
        throw error;
      }
    },
  };
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** Whether a variable that is a switch is on. */
export function isOn(value: string | undefined): boolean {
  return value !== undefined && !['', '0', 'false', 'no', 'off'].includes(value.trim().toLowerCase());
}
