import { readFileSync } from 'node:fs';
import type { CommandContext } from './command.ts';

/** Beside the sources and beside the bundle the package file is one or two folders up. */
const PACKAGE_FILES = ['../package.json', '../../package.json'];

/** The version of this package, or `unknown` where its package file is missing. */
export function odekVersion(): string {
  for (const path of PACKAGE_FILES) {
    try {
      const file = JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')) as { name?: unknown; version?: unknown };
      if (file.name === 'odek' && typeof file.version === 'string') return file.version;
    } catch {
      // Not there: try the next place.
    }
  }
  return 'unknown';
}

export async function run({ io }: Pick<CommandContext, 'io'>): Promise<number> {
  io.stdout.write(`odek ${odekVersion()} (node ${process.versions.node})\n`);
  return 0;
}
