import { describe, expect, it } from 'vitest';
import { isCredentialName } from '../../../adapters/fs/credentials.ts';

describe('a credential file', () => {
  it.each([
    '.env',
    '.ENV',
    '.env.local',
    'server.pem',
    'tls.key',
    'id_rsa',
    'id_ed25519',
    '.netrc',
    '.npmrc',
    'secrets.env',
    'mcp_oauth.json',
  ])('is %s', (name) => {
    expect(isCredentialName(name)).toBe(true);
  });

  it.each(['.env.example', 'env', 'pem', 'keys.ts', 'monkey', 'identity.md', '.npmignore'])('is not %s', (name) => {
    expect(isCredentialName(name)).toBe(false);
  });
});
