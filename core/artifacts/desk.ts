import {
  ArtifactError,
  type ArtifactErrorCode,
  type ArtifactFile,
  type ArtifactFiles,
  type ArtifactLedger,
  type ArtifactReader,
  type ArtifactText,
} from '../../ports/artifact.ts';
import { isOdekError } from '../../ports/errors.ts';
import { artifactLine } from './line.ts';
import { type ArtifactRef, MAX_ARTIFACT_BYTES } from './ref.ts';
import { textPage } from './text-page.ts';

/** Bytes of a page of `artifact_read`. */
const PAGE_BYTES = 64 * 1024;
const SHOWN_ID_CHARS = 64;

/** Whose references they are. */
export interface ArtifactOrigin {
  readonly session: string;
  /** Label of the tool: `mcp:<server>:<tool>`. */
  readonly source: string;
  /** Folders that may hold the files; empty refuses every reference. */
  readonly roots: readonly string[];
  readonly signal: AbortSignal;
}

/** The artifacts of all sessions of a host. */
export interface ArtifactDesk extends ArtifactReader {
  /**
   * Checks every reference of one result against its file, and enters them. Gives one line each for
   * the model. One that is not as it says refuses all of them, and none is entered.
   *
   * @throws {ArtifactError} names the reference and the rule, never the path
   */
  accept(refs: readonly ArtifactRef[], origin: ArtifactOrigin): Promise<readonly string[]>;
}

export interface ArtifactDeskDeps {
  readonly files: ArtifactFiles;
  readonly ledger: ArtifactLedger;
}

export function createArtifactDesk({ files, ledger }: ArtifactDeskDeps): ArtifactDesk {
  return {
    async accept(refs, origin) {
      if (refs.length === 0) return [];
      const { session, source, signal } = origin;
      const roots = origin.roots.filter((root) => root.trim() !== '');
      if (roots.length === 0)
        throw new ArtifactError('artifact_outside_roots', 'its artifact_roots are empty, so that no artifact is accepted');
      const entries: (ArtifactFile & { readonly ref: ArtifactRef })[] = [];
      // One after the other: 64 files of 64 MiB at once would take every file handle and core there is.
      for (const ref of refs) entries.push({ ref, ...(await measured(ref, { files, roots, signal })) });
      const ids = await ledger.add(
        session,
        entries.map(({ ref, ...file }) => ({ ...file, id: ref.id, source, roots, mediaType: ref.mediaType })),
      );
      return entries.map(({ ref, ...file }, index) => artifactLine({ ...ref, ...file, id: ids[index] ?? ref.id }));
    },

    async read({ session, id, offset, signal }): Promise<ArtifactText> {
      const entry = await ledger.find(session, id);
      if (entry === undefined) {
        const shown = JSON.stringify(id.slice(0, SHOWN_ID_CHARS));
        throw new ArtifactError('artifact_unknown', `this session has no artifact ${shown}; the lines of earlier results name the ids`, {
          value: id,
        });
      }
      const { path, roots, sha256, sizeBytes, mediaType } = entry;
      const lookup = { path, roots, sha256, maxBytes: MAX_ARTIFACT_BYTES, signal };
      const bytes = await named(id, () => files.page({ ...lookup, offset, length: PAGE_BYTES }));
      const part = textPage(bytes, offset, sizeBytes);
      if (part === undefined)
        throw new ArtifactError('artifact_not_text', `artifact ${JSON.stringify(id)} is no UTF-8 text; it can only be referred to`);
      return { id, mediaType, sizeBytes, ...part };
    },
  };
}

async function measured(
  ref: ArtifactRef,
  { files, roots, signal }: { files: ArtifactFiles; roots: readonly string[]; signal: AbortSignal },
) {
  return named(ref.id, async () => {
    const found = await files.measure({ path: ref.path, roots, maxBytes: MAX_ARTIFACT_BYTES, signal });
    if (ref.sizeBytes !== undefined && ref.sizeBytes !== found.sizeBytes) {
      throw new ArtifactError('artifact_refused', `the file has ${found.sizeBytes} bytes, its size_bytes says ${ref.sizeBytes}`, {
        value: found.sizeBytes,
        limit: ref.sizeBytes,
      });
    }
    if (ref.sha256 !== undefined && ref.sha256 !== found.sha256) {
      throw new ArtifactError('artifact_refused', 'the SHA-256 of the file is not the one that its sha256 says');
    }
    return found;
  });
}

/** Puts the reference in front of what is wrong with its file. */
async function named<T>(id: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isOdekError(error) || error.code === 'cancelled') throw error;
    const { code, message, value, limit } = error;
    throw new ArtifactError(code as ArtifactErrorCode, `artifact ${JSON.stringify(id)}: ${message}`, { value, limit });
  }
}
