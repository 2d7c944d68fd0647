import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keptOAuthSecrets } from '../../../hosts/mcp-client/oauth-secrets.ts';

const MODULE = new URL('../../../hosts/mcp-client/oauth-secrets.ts', import.meta.url).href;

let home: string;
beforeEach(async () => {
  home = await mkdtemp(join(tmpdir(), 'odek-oauth-secrets-'));
});
afterEach(() => rm(home, { recursive: true, force: true }));

describe('what is secret of kept logins', () => {
  it('is every token and every client secret, and nothing else', async () => {
    const client = { client_id: 'known', client_secret: 'secret-of-client' };
    const tokens = { access: 'token-for-access', refresh: 'token-for-refresh', scope: 'read' };
    await writeFile(join(home, 'mcp_oauth.json'), JSON.stringify({ version: 1, logins: [{ key: 'k', url: 'u', client, tokens }] }));
    expect([...keptOAuthSecrets(home)].sort()).toEqual(['secret-of-client', 'token-for-access', 'token-for-refresh']);
  });

  it.each([undefined, '', '{', 'null', '[]'])('is nothing where the file holds %j', async (text) => {
    if (text !== undefined) await writeFile(join(home, 'mcp_oauth.json'), text);
    expect(keptOAuthSecrets(home)).toEqual([]);
  });

  it('is nothing where the file is a pipe, which is not waited for', () => {
    execFileSync('mkfifo', [join(home, 'mcp_oauth.json')]);
    const read = `import(${JSON.stringify(MODULE)}).then(({ keptOAuthSecrets }) => console.log(keptOAuthSecrets(${JSON.stringify(home)}).length))`;
    expect(execFileSync(process.execPath, ['-e', read], { timeout: 20_000, encoding: 'utf8' })).toBe('0\n');
  });
});
