import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { OAUTH_FILE } from '../../adapters/mcp/oauth/index.ts';

const SECRET_FIELDS = new Set(['access', 'refresh', 'client_secret']);
const MAX_BYTES = 4 * 1024 * 1024;

/** Every token and secret of the kept logins, to be hidden from the first word on. A file that cannot be read holds none that could be used. */
export function keptOAuthSecrets(home: string): readonly string[] {
  const found: string[] = [];
  try {
    const file = join(home, OAUTH_FILE);
    const stat = statSync(file);
    // A pipe would be waited for, and a larger file is not used either.
    if (!stat.isFile() || stat.size > MAX_BYTES) return [];
    JSON.parse(readFileSync(file, 'utf8'), (name, value: unknown) => {
      if (typeof value === 'string' && SECRET_FIELDS.has(name)) found.push(value);
      return value;
    });
  } catch {
    return [];
  }
  return found;
}
