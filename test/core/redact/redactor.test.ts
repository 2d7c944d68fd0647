import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, REDACTED } from '../../../core/redact/redactor.ts';

const SECRET = 'pa$$w0rd/with+odd "chars" é';
const known = createRedactor([SECRET, 'short', 'canary-value-001']);
const shapes = createRedactor([]);

function letters(count: number): string {
  return 'aB3dE5gH7jK9mN1pQ2sT4vW6yZ8bC0fG'.repeat(10).slice(0, count);
}

function base64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}

describe('known values', () => {
  const spellings: Record<string, string> = {
    plain: SECRET,
    'JSON escaped': JSON.stringify(SECRET).slice(1, -1),
    'standard base64': Buffer.from(SECRET).toString('base64'),
    'base64 without padding': Buffer.from(SECRET).toString('base64').replaceAll('=', ''),
    'URL base64': base64Url(SECRET),
    'lower hex': Buffer.from(SECRET).toString('hex'),
    'upper hex': Buffer.from(SECRET).toString('hex').toUpperCase(),
    'URL encoding': encodeURIComponent(SECRET),
    'lower-case URL encoding': encodeURIComponent(SECRET).replaceAll(/%../g, (byte) => byte.toLowerCase()),
    'form encoding': encodeURIComponent(SECRET).replaceAll('%20', '+'),
    reversed: [...SECRET].reverse().join(''),
  };
  it.each(Object.entries(spellings))('are hidden in %s', (_name, spelling) => {
    expect(known.text(`before ${spelling} after`)).toBe(`before ${REDACTED} after`);
  });

  it.each([0, 1, 2, 3, 4])('are hidden inside a larger base64 text at byte offset %i', (offset) => {
    const blob = Buffer.from(`${'x'.repeat(offset)}${SECRET}tail of it`).toString('base64');
    const hidden = known.text(blob);
    expect(hidden).toContain(REDACTED);
    for (const part of hidden.split(REDACTED)) {
      expect(Buffer.from(part, 'base64').toString('latin1')).not.toContain('pa$');
    }
  });

  it('are hidden in the output of env', () => {
    const output = execFileSync('env', {
      env: { PATH: process.env.PATH ?? '', MY_THING: SECRET, OTHER: 'canary-value-001' },
    }).toString();
    const hidden = known.text(output);
    expect(hidden).not.toContain(SECRET);
    expect(hidden).toContain(`OTHER=${REDACTED}`);
  });

  it('shorter than eight characters are left alone', () => {
    expect(known.text('a short text')).toBe('a short text');
  });

  it('that overlap are hidden together', () => {
    expect(createRedactor(['abcdefgh', 'defghijklm']).text('-abcdefghijklm-')).toBe(`-${REDACTED}-`);
  });

  it('of several lines are hidden line by line as well', () => {
    const redactor = createRedactor(['first-line-0123456789\nsecond-line-0123456789']);
    expect(redactor.text('1| first-line-0123456789\n2| second-line-0123456789')).toBe(`1| ${REDACTED}\n2| ${REDACTED}`);
  });

  it('are hidden wherever they stand', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (before, after) => {
        expect(known.text(`${before}canary-value-001${after}`)).not.toContain('canary-value-001');
      }),
    );
  });
});

describe('shapes of secrets', () => {
  const tokens: Record<string, string> = {
    Groq: `gsk_${letters(32)}`,
    xAI: `xai-${letters(32)}`,
    'Hugging Face': `hf_${letters(32)}`,
    'sk-': `sk-proj-${letters(32)}`,
    GitHub: `ghp_${letters(36)}`,
    'GitHub fine-grained': `github_pat_${letters(22)}`,
    AWS: `AKIA${'ABCDEFGH12345678'}`,
    'AWS session': `ASIA${'ABCDEFGH12345678'}`,
    JWT: `eyJ${letters(17)}.${letters(24)}.${letters(43)}`,
    Slack: `xoxb-1234567890-${letters(12)}`,
    Telegram: `123456789:${letters(35)}`,
    Stripe: `sk_live_${letters(24)}`,
    'Stripe restricted': `rk_test_${letters(24)}`,
    Google: `AIza${letters(35)}`,
    Twilio: `SK${'0123456789abcdef'.repeat(2)}`,
    Vault: `hvs.${letters(24)}`,
    'Google access': `ya29.${letters(30)}`,
    'Google refresh': `1//0${letters(30)}`,
    SendGrid: `SG.${letters(22)}.${letters(43)}`,
    Discord: `M${letters(23)}.${letters(6)}.${letters(27)}`,
  };
  it.each(Object.entries(tokens))('%s tokens are hidden in text, quotes, escapes and URLs', (_name, token) => {
    expect(shapes.text(`see ${token} here`)).toBe(`see ${REDACTED} here`);
    expect(shapes.text(`x = "${token}";`)).toBe(`x = "${REDACTED}";`);
    expect(shapes.text(`{"text":"line\\n${token}"}`)).toBe(`{"text":"line\\n${REDACTED}"}`);
    expect(shapes.text(`https://host/path?a=${token}&b=1`)).not.toContain(token);
  });

  it.each([
    ['api_key = "%"'],
    ['apiKey: %'],
    ['"password":"%"'],
    ['{\\"secret\\": \\"%\\"}'],
    ['client_secret=%'],
    ['MY_SIGNING_KEY=%'],
    ['export DB_PASSWORD="%"'],
    ['Authorization: Bearer %'],
    ['curl -H "authorization: bearer %"'],
    ['SOME_CREDENTIAL=%'],
  ])('a value is hidden in %s', (form) => {
    expect(shapes.text(form.replace('%', letters(24)))).toBe(form.replace('%', REDACTED));
  });

  it('a password in a URL is hidden and the rest of the URL stays', () => {
    expect(shapes.text('postgres://app:hunter22@db:5432/x')).toBe(`postgres://app:${REDACTED}@db:5432/x`);
    expect(shapes.text('git clone https://me:secret99@example.test/r.git')).toBe(`git clone https://me:${REDACTED}@example.test/r.git`);
  });

  it('a private key is hidden whole, cut off, with line numbers and in escaped text', () => {
    const begin = '-----BEGIN RSA PRIVATE KEY-----';
    const end = '-----END RSA PRIVATE KEY-----';
    expect(shapes.text(`a\n${begin}\n${letters(64)}\n${letters(20)}==\n${end}\nb`)).toBe(`a\n${REDACTED}\nb`);
    expect(shapes.text(`a\n${begin}\n${letters(64)}\n${letters(30)}`)).toBe(`a\n${REDACTED}`);
    expect(shapes.text(`1| ${begin}\n2| ${letters(64)}\n3| ${end}\n4| (b)`)).toBe(`1| ${REDACTED}\n4| (b)`);
    expect(shapes.text(`"${begin}\\n${letters(64)}\\n${end}\\n"`)).toBe(`"${REDACTED}\\n"`);
  });

  it.each([
    'const token = createTokenFromTheEnvironment(options);',
    'password: process.env.DATABASE_PASSWORD,',
    'a file at /usr/lib/node_modules/some-package/dist/index.js:120:15',
    'task-with-a-long-kebab-name-of-more-than-thirty-two-letters',
    'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
    'max_tokens: 4096, tokenizer: a-long-name-of-a-tokenizer-model',
    'http://localhost:3000/users/someone@example.test',
    'commit 9f2c1d3e4b5a69788796a5b4c3d2e1f001234567',
  ])('%s is no secret', (text) => {
    expect(shapes.text(text)).toBe(text);
  });
});

describe('JSON text', () => {
  it('comes back as the very same text when it holds no secret', () => {
    const raw = '{ "a" : [1.50, "x\\u0041", {"b":null}] }';
    expect(known.json(raw)).toBe(raw);
  });

  it('keeps everything but the hidden strings', () => {
    const raw = `{ "id": 12345678901234567890, "note": ${JSON.stringify(`see ${SECRET}`)}, "x": 1.50 }`;
    expect(known.json(raw)).toBe(`{ "id": 12345678901234567890, "note": "see ${REDACTED}", "x": 1.50 }`);
  });

  it('hides a secret written with escapes, in a key, and as a number', () => {
    expect(known.json('{"a":"canary\\u002dvalue-001"}')).toBe(`{"a":"${REDACTED}"}`);
    expect(known.json('{"canary-value-001":1}')).toBe(`{"${REDACTED}":1}`);
    expect(createRedactor(['1234567890']).json('{"pin":1234567890}')).toBe(`{"pin":"${REDACTED}"}`);
  });

  it('hides a value under the name of a secret', () => {
    expect(shapes.json(`{"api_key": "${letters(24)}", "name": "${letters(24)}"}`)).toBe(
      `{"api_key": "${REDACTED}", "name": "${letters(24)}"}`,
    );
  });

  it('stays JSON whatever it holds', () => {
    const value = fc.jsonValue().map((json) => JSON.stringify({ json, token: 'canary-value-001', deep: [`x${SECRET}`] }));
    fc.assert(
      fc.property(value, (raw) => {
        const hidden = known.json(raw);
        expect(() => JSON.parse(hidden)).not.toThrow();
        expect(hidden).not.toContain('canary-value-001');
      }),
    );
  });

  it('that is none is redacted as text', () => {
    expect(known.json('{"a": canary-value-001')).toBe(`{"a": ${REDACTED}`);
  });
});

describe('one mebibyte of hostile text', () => {
  const inputs = [
    'a',
    '-',
    '1',
    'eyJ',
    'token=',
    '://u:',
    '-----BEGIN PRIVATE KEY-----(',
    'MNO',
    '12345:',
    'sk-',
    'SG.aaaaaaaaaaaaaaaaaa',
    ':',
    '"',
    'canary-value-00',
    'x_KEY=',
    '\\',
  ];
  it.each(inputs)('of repeated %j is searched in time', (unit) => {
    const text = unit.repeat(Math.ceil(2 ** 20 / unit.length));
    const start = performance.now();
    known.text(text);
    known.json(JSON.stringify({ text }));
    expect(performance.now() - start).toBeLessThan(2000);
  });

  it('hides what it learns later, the last two hundred of it, beside what it knew', () => {
    const redactor = createRedactor(['known-from-the-start']);
    expect(redactor.text('token-of-later-1')).toBe('token-of-later-1');
    redactor.learn(['token-of-later-1']);
    expect(redactor.text('token-of-later-1 known-from-the-start')).toBe(`${REDACTED} ${REDACTED}`);
    redactor.learn(Array.from({ length: 200 }, (_, at) => `another-token-${at}`));
    expect(redactor.text('token-of-later-1')).toBe('token-of-later-1');
    expect(redactor.text('another-token-0 known-from-the-start')).toBe(`${REDACTED} ${REDACTED}`);
  });
});
