import { describe, expect, it } from 'vitest';
import { childEnvironment, isSecretName } from '../../../adapters/process/environment.ts';

describe('the environment of a child', () => {
  it('holds the allowed names alone', () => {
    const parent = {
      PATH: '/bin',
      HOME: '/h',
      TERM: 'xterm',
      LC_CTYPE: 'C',
      TZ: 'UTC',
      EDITOR: 'vi',
      LD_PRELOAD: '/evil.so',
      UNSET: undefined,
    };
    expect(childEnvironment(parent)).toEqual({ PATH: '/bin', HOME: '/h', TERM: 'xterm', LC_CTYPE: 'C', TZ: 'UTC' });
  });

  it('takes what was added, except secret-looking names', () => {
    expect(childEnvironment({}, { PORT: '1', 'my-api-key': 'x', Session_Cookie: 'x' })).toEqual({ PORT: '1' });
  });

  it('on Windows keeps what a program needs to start', () => {
    expect(childEnvironment({ SystemRoot: 'C:\\Windows', Path: 'C:\\bin', OTHER: 'x' }, {}, 'win32')).toEqual({
      SystemRoot: 'C:\\Windows',
      Path: 'C:\\bin',
    });
  });
});

describe('a secret-looking name', () => {
  it.each([
    'OPENAI_API_KEY',
    'api-key',
    'GH_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'DB_PASSWD',
    'MY_CREDS',
    'Private_Key',
    'AUTHORIZATION',
    'PASSPHRASE',
  ])('is %s', (name) => expect(isSecretName(name)).toBe(true));

  it.each(['PATH', 'KEYBOARD', 'LC_ALL', 'AUTHOR'])('is not %s', (name) => expect(isSecretName(name)).toBe(false));
});
