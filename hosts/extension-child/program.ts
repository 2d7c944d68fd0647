import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The name that the build gives the host's program. */
export const EXTENSION_PROGRAM = 'extension-host.mjs';

/** Absolute path of the host's program: beside odek's own in a build, and in the build's folder when odek runs from source. */
export function extensionProgram(): string {
  const places = [`./${EXTENSION_PROGRAM}`, `../${EXTENSION_PROGRAM}`, `../../dist/${EXTENSION_PROGRAM}`];
  const files = places.map((place) => fileURLToPath(new URL(place, import.meta.url)));
  return files.find((file) => existsSync(file)) ?? (files.at(-1) as string);
}
