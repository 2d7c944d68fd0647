import { describe, expect, it } from 'vitest';
import { environmentSecrets } from '../../../hosts/config/environment-secrets.ts';

describe('the variables whose values are secret', () => {
  it.each([
    'API_KEY',
    'OPENAI_APIKEY',
    'GH_TOKEN',
    'token',
    'MY-SECRET',
    'DB_PASSWORD',
    'X_PASSWD',
    'SMTP_PASS',
    'A_CREDENTIAL',
    'CREDENTIALS_JSON',
    'TLS_PRIVATEKEY',
    'AWS_ACCESSKEY',
    'AWS_SECRETKEY',
    'AWS_SECRET_ACCESS_KEY',
    'GPG_PASSPHRASE',
  ])('have %s among them', (name) => {
    expect(environmentSecrets({ [name]: 'canary-value' })).toEqual(['canary-value']);
  });

  it.each(['HOME', 'MONKEY', 'KEYBOARD', 'PASSAGE', 'TOKENIZER', 'SECRETARY', 'PATH'])('do not have %s among them', (name) => {
    expect(environmentSecrets({ [name]: 'canary-value' })).toEqual([]);
  });

  it('leave out empty ones, and names of files that hold the secret', () => {
    expect(environmentSecrets({ A_KEY: '', GOOGLE_APPLICATION_CREDENTIALS: '/etc/google/key.json', B_KEY_FILE: './b.pem' })).toEqual([]);
    expect(environmentSecrets({ A_KEY: '/looks/like/a/path' })).toEqual(['/looks/like/a/path']);
  });
});
