import type { FileSystem } from '../../ports/file-system.ts';
import { scanInjection } from '../injection/scan.ts';

const MAX_BYTES = 262_144;
const SHOWN_HITS = 3;
const SHOWN_EXCERPT = 80;

/**
 * What the injection scan says about a script that nobody read, for the person who is asked: its first
 * 256 KiB, with one layer of base64 and hex. Never rejects.
 */
export async function scanned(path: string, fs: FileSystem): Promise<string> {
  try {
    const target = await fs.resolve(path);
    if (!target.exists) return 'there is no such file';
    if (target.kind !== 'file' || target.inState || target.credential) return 'it was not looked at';
    const { bytes, size } = await fs.read(target.real, { maxBytes: MAX_BYTES });
    const part = size > bytes.length ? `the first ${bytes.length} of its ${size} bytes` : `its ${size} bytes`;
    const hits = scanInjection(new TextDecoder().decode(bytes), { decodeLayers: 1 });
    if (hits.length === 0) return `the injection scan found nothing in ${part}`;
    const shown = hits.slice(0, SHOWN_HITS).map(({ rule, excerpt }) => `${rule} ${JSON.stringify(excerpt.slice(0, SHOWN_EXCERPT))}`);
    const more = hits.length > SHOWN_HITS ? ` and ${hits.length - SHOWN_HITS} more` : '';
    return `the injection scan of ${part} found ${shown.join(', ')}${more}`;
  } catch {
    return 'it could not be looked at';
  }
}
