/** The names in a `scope`, each once, at most 200. */
export function scopesOf(scope: string | undefined): readonly string[] {
  return [...new Set((scope ?? '').split(/\s+/).filter((each) => each !== ''))].slice(0, 200);
}

/** Every name of all. Undefined for none. */
export function allScopes(...scopes: readonly (string | undefined)[]): string | undefined {
  const all = scopesOf(scopes.filter((each) => each !== undefined).join(' '));
  return all.length === 0 ? undefined : all.join(' ');
}

/** The scopes that a challenge wants, and that are not among the granted ones. */
export function missingScopes(wanted: string | undefined, granted: string | undefined): readonly string[] {
  const has = new Set(scopesOf(granted));
  return scopesOf(wanted).filter((each) => !has.has(each));
}

/** The parameter `scope` of a header `www-authenticate`. */
export function challengedScope(header: string | undefined): string | undefined {
  const [, quoted, bare] = /(?:^|[\s,])scope=(?:"([^"]*)"|([^\s,]+))/i.exec(header ?? '') ?? [];
  return allScopes(quoted ?? bare);
}
