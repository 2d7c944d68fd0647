import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor } from '../../../core/redact/redactor.ts';
import { createRedactedStream } from '../../../core/redact/stream.ts';

const SECRET = 'canary-secret-0123456789';
const redactor = createRedactor([SECRET]);

function streamed(pieces: readonly string[]): string[] {
  const stream = createRedactedStream(redactor);
  return [...pieces.map((piece) => stream.push(piece)), stream.end()];
}

/** Every way to cut a text into three. */
function* cuts(text: string): Generator<string[]> {
  for (let a = 0; a <= text.length; a += 1) {
    for (let b = a; b <= text.length; b += 1) yield [text.slice(0, a), text.slice(a, b), text.slice(b)];
  }
}

describe('a redacted stream', () => {
  it('lets words through as they become whole', () => {
    expect(streamed(['Hel', 'lo wor', 'ld and', ' more'])).toEqual(['', 'Hello ', 'world ', 'and ', 'more']);
  });

  it('lets text without spaces through that no secret can hold', () => {
    expect(streamed(['日本', '語の', '文'])).toEqual(['日本', '語の', '文', '']);
  });

  it('lets no half of a character through', () => {
    expect(streamed(['a \ud83d', '\ude00b', ' ', '\ud83d'])).toEqual(['a ', '\u{1f600}', 'b ', '', '\ud83d']);
  });

  it('hides a known value wherever it is cut', () => {
    const text = `it is ${SECRET}, yes`;
    for (const pieces of cuts(text)) expect(streamed(pieces).join('')).toBe('it is [REDACTED], yes');
  });

  it('hides a token by its shape and a value by its name wherever they are cut', () => {
    const text = `a ghp_${'a1B2'.repeat(9)} b password: ${'x9Y8z7'.repeat(4)} c`;
    for (const pieces of cuts(text)) expect(streamed(pieces).join('')).toBe(redactor.text(text));
  });

  it('hides a known value with spaces, line breaks or letters of any script in it, wherever it is cut', () => {
    for (const value of ['correct horse battery', 'line one\nline two', 'пароль мой', 'a secret é wörd']) {
      const known = createRedactor([value]);
      const text = `it is ${value}, yes`;
      for (const pieces of cuts(text)) {
        const stream = createRedactedStream(known);
        expect([...pieces.map(stream.push), stream.end()].join('')).toBe('it is [REDACTED], yes');
      }
    }
  });

  it('hides a known value at any place of a run that never ends', () => {
    const filler = 'x'.repeat(1000);
    for (let offset = 0; offset < 1000; offset += 97) {
      const pieces = Array.from({ length: 140 }, (_, at) => (at % 7 === 3 ? filler.slice(0, offset) + SECRET + filler : filler));
      const shown = streamed(pieces.flatMap((piece) => [piece.slice(0, 500 + offset), piece.slice(500 + offset)])).join('');
      expect(shown).not.toMatch(/canary|0123456/);
    }
  });

  it('hides a private key wherever it is cut', () => {
    const text = `see\n-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----\nend`;
    for (const pieces of cuts(text)) expect(streamed(pieces).join('')).toBe('see\n[REDACTED]\nend');
  });

  it('loses and adds nothing of a text without secrets', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.constantFrom('-----BEGIN ', ' ', '\n', 'key: '))), (pieces) => {
        const text = pieces.join('');
        fc.pre(redactor.text(text) === text);
        expect(streamed(pieces).join('')).toBe(text);
      }),
    );
  });

  it('holds back a bounded length', () => {
    const stream = createRedactedStream(redactor);
    let shown = 0;
    for (let at = 0; at < 100; at += 1) shown += stream.push('-'.repeat(1000)).length;
    expect(shown).toBeGreaterThan(60_000);
  });
});
