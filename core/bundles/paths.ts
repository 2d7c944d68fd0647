import { BUNDLE_LIMITS } from './limits.ts';

/** Control and format characters: a name with one of them shows as another. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\]/u;
const WINDOWS_DRIVE = /^[A-Za-z]:/;

/**
 * A path inside a bundle without a leading `./`, or why it is none: relative, with `/`, of normal
 * components, at most 512 bytes.
 */
export function bundlePath(given: string): { readonly path: string } | { readonly refused: string } {
  const path = given.startsWith('./') ? given.slice(2) : given;
  if (path === '') return { refused: 'it is empty' };
  if (new TextEncoder().encode(path).length > BUNDLE_LIMITS.pathBytes)
    return { refused: `it is longer than ${BUNDLE_LIMITS.pathBytes} bytes` };
  if (UNSEEN.test(path)) return { refused: 'it holds a backslash or a character that cannot be seen' };
  if (path.startsWith('/') || WINDOWS_DRIVE.test(path)) return { refused: 'it is absolute; paths are relative to the bundle' };
  const bad = path.split('/').find((part) => part === '' || part === '.' || part === '..');
  if (bad === undefined) return { path };
  return { refused: bad === '..' ? 'it leads out of its folder with ".."' : 'it has an empty component or "."' };
}

/** `specifier`, which begins with `./` or `../`, as the module `from` means it; undefined where it leaves the bundle. */
export function resolveInside(from: string, specifier: string): string | undefined {
  const parts = from.split('/').slice(0, -1);
  for (const part of specifier.split('/')) {
    if (part === '.' || part === '') continue;
    if (part !== '..') parts.push(part);
    else if (parts.pop() === undefined) return undefined;
  }
  return parts.join('/');
}

export function extensionOf(path: string): string {
  return /\.[^./]+$/.exec(path)?.[0] ?? '';
}
