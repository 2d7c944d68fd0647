import type { ArtifactDesk } from '../core/artifacts/desk.ts';
import type { ArtifactLedger } from '../ports/artifact.ts';
import type { ResolvedConfig } from './config/types.ts';
import type { HostPolicy } from './policy.ts';

/** The artifacts of a host, or undefined where no tool can hand over any: no connected server has a folder for them. */
export async function openArtifactDesk(
  { mcp_servers }: Pick<ResolvedConfig, 'mcp_servers'>,
  { mcp }: Pick<HostPolicy, 'mcp'>,
  ledger: ArtifactLedger,
): Promise<ArtifactDesk | undefined> {
  const hasRoot = Object.values(mcp_servers).some(({ artifact_roots }) => artifact_roots.some((root) => root.trim() !== ''));
  if (!mcp.client || !hasRoot) return undefined;
  const { createArtifactFiles } = await import('../adapters/artifacts/disk.ts');
  const { createArtifactDesk } = await import('../core/artifacts/desk.ts');
  return createArtifactDesk({ files: createArtifactFiles(), ledger });
}
