const REFERENCE = /\$\$|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$([A-Za-z_][A-Za-z0-9_]*)/g;

/** Names of variables whose values are taken for secrets wherever they come up. */
export const SECRET_NAME = /(^|_)(KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASS|CREDENTIALS?|AUTH|AUTHORIZATION|COOKIE|DSN)(_|$)/i;

export interface Expansion {
  readonly text: string;
  /** Variables that were named, in order. */
  readonly names: readonly string[];
  /** Those of them that had no value and became nothing. */
  readonly missing: readonly string[];
}

/** Replaces `${NAME}` and `$NAME`; `$$` is one `$`; any other `$` stays. What was put in is not expanded again. */
export function expand(text: string, lookup: (name: string) => string | undefined): Expansion {
  const names: string[] = [];
  const missing: string[] = [];
  const expanded = text.replace(REFERENCE, (whole, braced?: string, bare?: string) => {
    const name = braced ?? bare;
    if (whole === '$$' || name === undefined) return '$';
    names.push(name);
    const value = lookup(name);
    if (value === undefined || value === '') missing.push(name);
    return value ?? '';
  });
  return { text: expanded, names, missing };
}
