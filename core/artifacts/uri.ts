/** Characters of a file URI. */
const MAX_URI_CHARS = 4096;
const SCHEME = 'file://';
/** A separator, a dot, a percent sign or NUL in disguise: nobody has to write them this way. */
const DISGUISED = /%(?:2f|5c|2e|25|00)/i;
const UNSAFE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\\?#]/u;

export type UriReading = { readonly path: string } | { readonly fault: string };

/**
 * The path of a `file://` URI, which has no host and a clean absolute path: no empty segment, no `.` or
 * `..`, and nothing that a second reader could decode into one. Faults do not quote the URI.
 */
export function readFileUri(uri: string): UriReading {
  if (uri.length > MAX_URI_CHARS) return { fault: `its uri has ${uri.length} characters, the limit is ${MAX_URI_CHARS}` };
  if (!uri.startsWith(SCHEME)) return { fault: 'its uri is no file:// URI' };
  const encoded = uri.slice(SCHEME.length);
  if (!encoded.startsWith('/')) return { fault: 'its uri names a host; it must begin with file:///' };
  if (UNSAFE.test(encoded)) return { fault: 'its uri has a character that no file URI has' };
  if (DISGUISED.test(encoded)) return { fault: 'its uri hides a separator, a dot or a percent sign behind an escape' };
  const path = decoded(encoded);
  if (path === undefined || UNSAFE.test(path)) return { fault: 'its uri has an escape that is no text' };
  const segments = path.slice(1).split('/');
  if (segments.some((segment) => segment === '..')) return { fault: 'its path has a segment ".."' };
  if (segments.some((segment) => segment === '' || segment === '.'))
    return { fault: 'its path is not clean: it has an empty segment or "."' };
  return { path };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
