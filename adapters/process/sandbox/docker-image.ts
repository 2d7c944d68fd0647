import { createHash } from 'node:crypto';
import { buildArguments } from './docker-arguments.ts';
import type { DockerClient } from './docker-client.ts';
import { SandboxUnavailable } from './sandbox.ts';

const BUILD_TIMEOUT_MS = 30 * 60_000;

/**
 * Builds the image of a project from the very text that was agreed to, whatever the file says by now.
 * Returns its tag. Rejects with {@link SandboxUnavailable}.
 */
export async function buildImage(
  client: DockerClient,
  { dockerfile, workspace, network }: { readonly dockerfile: string; readonly workspace: string; readonly network: boolean },
): Promise<string> {
  const tag = `odek-project:${createHash('sha256').update(`${workspace}\n${dockerfile}`).digest('hex').slice(0, 24)}`;
  const { ok, words } = await client.call(buildArguments(tag, workspace, network), { timeoutMs: BUILD_TIMEOUT_MS, input: dockerfile });
  if (ok) return tag;
  throw new SandboxUnavailable(
    `the image of Dockerfile.odek could not be built: ${words}`,
    network ? 'correct Dockerfile.odek' : 'correct Dockerfile.odek, or set ODEK_SANDBOX_BUILD_NETWORK=1 if it needs a network',
  );
}
