const NAMES = new Set(['.env', '.netrc', '.npmrc', 'secrets.env', 'mcp_oauth.json']);
const ENDINGS = ['.pem', '.key'];
const SAMPLE = /\.(?:example|sample|template|dist)$/;

/** Whether a file of this name usually holds a secret. Case does not matter. */
export function isCredentialName(name: string): boolean {
  const lower = name.toLowerCase();
  if (NAMES.has(lower) || lower.startsWith('id_')) return true;
  if (lower.startsWith('.env.')) return !SAMPLE.test(lower);
  return ENDINGS.some((ending) => lower.endsWith(ending));
}
