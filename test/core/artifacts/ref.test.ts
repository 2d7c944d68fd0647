import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readEnvelope } from '../../../core/artifacts/envelope.ts';
import { artifactLine } from '../../../core/artifacts/line.ts';
import { readRefs } from '../../../core/artifacts/ref.ts';
import { readFileUri } from '../../../core/artifacts/uri.ts';

const ref = (facts: object = {}) => ({
  schema: 'odek.artifact-ref/v1',
  id: 'r-1',
  uri: 'file:///art/r.xml',
  media_type: 'application/xml',
  ...facts,
});
const envelope = (facts: object = {}) => ({ schema: 'odek.tool-result/v1', text: 'Done.', artifacts: [ref()], ...facts });

function reasonOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    expect(error).toMatchObject({ code: 'artifact_refused' });
    return (error as Error).message;
  }
  throw new Error('it was not refused');
}

describe('the URI of an artifact', () => {
  it.each([
    ['file:///art/r.xml', '/art/r.xml'],
    ['file:///a', '/a'],
    ['file:///art/with%20space/gr%C3%B6%C3%9Fe.txt', '/art/with space/größe.txt'],
    ['file:///art/größe', '/art/größe'],
    ['file:///art/...', '/art/...'],
    ['file:///art/a..b', '/art/a..b'],
  ])('%s is the path %s', (uri, path) => {
    expect(readFileUri(uri)).toEqual({ path });
  });

  it.each([
    ['', 'no file://'],
    ['/art/r.xml', 'no file://'],
    ['http://x.test/art', 'no file://'],
    ['FILE:///art/r', 'no file://'],
    ['file:/art/r', 'no file://'],
    ['file:art', 'no file://'],
    [' file:///art/r', 'no file://'],
    ['file://host/art/r', 'host'],
    ['file://localhost/art/r', 'host'],
    ['file://', 'host'],
    ['file:///', 'empty segment'],
    ['file:////etc/passwd', 'empty segment'],
    ['file:///art//r', 'empty segment'],
    ['file:///art/', 'empty segment'],
    ['file:///art/./r', 'empty segment or "."'],
    ['file:///art/../etc/passwd', '".."'],
    ['file:///..', '".."'],
    ['file:///art/%2e%2e/etc', 'hides'],
    ['file:///art/.%2E/etc', 'hides'],
    ['file:///art%2f..%2fetc', 'hides'],
    ['file:///art/%252e%252e/etc', 'hides'],
    ['file:///art/%5c..%5cetc', 'hides'],
    ['file:///art/r%00.txt', 'hides'],
    ['file:///art\\..\\etc', 'a character'],
    ['file:///art/r?x', 'a character'],
    ['file:///art/r#x', 'a character'],
    ['file:///art/r\u0000', 'a character'],
    ['file:///art/\u202er', 'a character'],
    ['file:///art/r\n', 'a character'],
    ['file:///art/%0a', 'an escape'],
    ['file:///art/%E2%80%AE', 'an escape'],
    ['file:///art/%zz', 'an escape'],
    ['file:///art/%ff', 'an escape'],
    ['file:///art/%', 'an escape'],
    [`file:///${'a'.repeat(4096)}`, 'characters, the limit is 4096'],
  ])('%j is refused', (uri, reason) => {
    expect(readFileUri(uri)).toEqual({ fault: expect.stringContaining(reason) });
  });

  it('never gives a path that is not absolute and clean', () => {
    const part = fc.constantFrom('/', '..', '.', '%2e', '%2f', '%5c', 'a', '%61', '%25', '//', '\\', '%', 'é', '%c3%a9', '\0', '~');
    fc.assert(
      fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
        const reading = readFileUri(`file:///${parts.join('')}`);
        if ('fault' in reading) return;
        const segments = reading.path.split('/');
        expect(segments.shift()).toBe('');
        for (const segment of segments) expect(['', '.', '..']).not.toContain(segment);
      }),
    );
  });
});

describe('a reference', () => {
  it('is read with what it claims, and unknown fields are ignored', () => {
    const [read] = readRefs([ref({ sha256: 'a'.repeat(64), size_bytes: 0, summary: 's', later: {} })]);
    expect(read).toEqual({
      id: 'r-1',
      path: '/art/r.xml',
      mediaType: 'application/xml',
      sha256: 'a'.repeat(64),
      sizeBytes: 0,
      summary: 's',
    });
    expect(readRefs([ref()])).toEqual([{ id: 'r-1', path: '/art/r.xml', mediaType: 'application/xml' }]);
  });

  it.each([
    ['schema', { schema: 'odek.artifact-ref/v2' }],
    ['schema', { schema: undefined }],
    ['id', { id: '' }],
    ['id', { id: 7 }],
    ['id', { id: 'x'.repeat(129) }],
    ['id', { id: 'a b' }],
    ['id', { id: 'a\nb' }],
    ['id', { id: 'a\u202eb' }],
    ['id', { id: 'a\u2028b' }],
    ['id', { id: 'a\u200bb' }],
    ['uri', { uri: undefined }],
    ['uri', { uri: 'https://x.test/a' }],
    ['media_type', { media_type: undefined }],
    ['media_type', { media_type: '  ' }],
    ['media_type', { media_type: 'x'.repeat(256) }],
    ['sha256', { sha256: 'A'.repeat(64) }],
    ['sha256', { sha256: 'a'.repeat(63) }],
    ['sha256', { sha256: null }],
    ['size_bytes', { size_bytes: -1 }],
    ['size_bytes', { size_bytes: 1.5 }],
    ['size_bytes', { size_bytes: '3' }],
    ['size_bytes', { size_bytes: null }],
    ['summary', { summary: 7 }],
  ])('with a bad %s is refused: %j', (field, facts) => {
    expect(reasonOf(() => readRefs([ref(), ref({ id: 'r-2', ...facts })]))).toContain(field);
  });

  it.each([[null], ['text'], [[ref()]]])('that is %j is refused', (value) => {
    expect(reasonOf(() => readRefs([value]))).toBe('artifact 1 is no object');
  });

  it('is refused with all others when two have one id, when there are 65, and when they are no list', () => {
    expect(reasonOf(() => readRefs([ref(), ref()]))).toBe('two artifacts have the id "r-1"');
    const many = (count: number) => Array.from({ length: count }, (_, at) => ref({ id: `r-${at}` }));
    expect(readRefs(many(64))).toHaveLength(64);
    expect(reasonOf(() => readRefs(many(65)))).toBe('a result has 65 artifacts, the limit is 64');
    expect(reasonOf(() => readRefs({}))).toContain('list');
    expect(reasonOf(() => readRefs(null))).toContain('list');
  });

  it('is never named by its path', () => {
    for (const uri of ['file:///secret/../x', 'https://secret.test/', 'file://secret/x']) {
      expect(reasonOf(() => readRefs([ref({ uri })]))).not.toContain('secret');
    }
  });
});

describe('an envelope', () => {
  it('is found by its schema, and everything else is plain text as it is', () => {
    expect(readEnvelope(JSON.stringify(envelope({ later: 1 })))).toMatchObject({ text: 'Done.', artifacts: [{ id: 'r-1' }] });
    expect(readEnvelope(JSON.stringify({ schema: 'odek.tool-result/v1', text: '' }))).toEqual({ text: '', artifacts: [] });
    const plain = [
      '',
      'text',
      '{not json',
      '[INFO] odek.tool-result/v1 is a schema',
      '{"schema":"odek.tool-result/v2","text":"x"}',
      '{"about":"odek.tool-result/v1"}',
      '"odek.tool-result/v1"',
      `[${JSON.stringify(envelope())}]`,
      `The schema is ${JSON.stringify(envelope())}`,
      '{ about: odek.tool-result/v1 }',
    ];
    for (const text of plain) expect(readEnvelope(text)).toEqual({ text, artifacts: [] });
  });

  it('is found however its JSON is written', () => {
    const json = JSON.stringify(envelope());
    for (const text of [
      JSON.stringify(envelope(), null, 2),
      ` \n${json}\n`,
      json.replaceAll('/', '\\/'),
      json.replaceAll('/', '\\u002f'),
    ]) {
      expect(readEnvelope(text)).toMatchObject({ text: 'Done.', artifacts: [{ id: 'r-1', path: '/art/r.xml' }] });
    }
  });

  it('that is malformed JSON, has no text or has artifacts that are no list is refused', () => {
    const json = JSON.stringify(envelope());
    expect(reasonOf(() => readEnvelope(json.slice(0, -1)))).toContain('malformed JSON');
    expect(reasonOf(() => readEnvelope(`${json} trailing`))).toContain('malformed JSON');
    expect(reasonOf(() => readEnvelope(JSON.stringify(envelope({ text: undefined }))))).toContain('has no text');
    expect(reasonOf(() => readEnvelope(JSON.stringify(envelope({ text: 7 }))))).toContain('has no text');
    expect(reasonOf(() => readEnvelope(JSON.stringify(envelope({ artifacts: 'r-1' }))))).toContain('list');
  });

  it('of any JSON is read or refused, nothing else', () => {
    const facts = fc.dictionary(fc.constantFrom('text', 'artifacts', 'later'), fc.jsonValue({ maxDepth: 4 }));
    const badRef = fc.dictionary(
      fc.constantFrom('schema', 'id', 'uri', 'media_type', 'sha256', 'size_bytes', 'summary'),
      fc.jsonValue({ maxDepth: 1 }),
    );
    fc.assert(
      fc.property(
        fc.oneof(
          facts,
          fc.array(badRef).map((refs) => ({ text: 't', artifacts: refs.map(ref) })),
        ),
        (given) => {
          try {
            expect(typeof readEnvelope(JSON.stringify({ ...given, schema: 'odek.tool-result/v1' })).text).toBe('string');
          } catch (error) {
            expect(error).toMatchObject({ code: 'artifact_refused' });
          }
        },
      ),
    );
  });
});

describe('the line of an artifact', () => {
  const facts = { id: 'r-1', mediaType: 'text/plain', sizeBytes: 21_453_211, sha256: '9f2c1a2b3c4d5e6f'.repeat(4) };

  it('tells id, media type, size, short hash and summary', () => {
    expect(artifactLine({ ...facts, summary: 'Full results' })).toBe(
      '[artifact r-1 · text/plain · 21453211 bytes · sha256:9f2c1a2b3c4d · Full results]',
    );
    expect(artifactLine(facts)).toBe('[artifact r-1 · text/plain · 21453211 bytes · sha256:9f2c1a2b3c4d]');
  });

  it('flattens control, bidi and line-separator characters to spaces', () => {
    const line = artifactLine({
      ...facts,
      mediaType: 'text/\u202eplain\u0000',
      summary: 'one\ntwo\u2028three\u2029four\u0085five\u061csix\u001b[2Jseven\u200b',
    });
    expect(line).toBe('[artifact r-1 · text/ plain · 21453211 bytes · sha256:9f2c1a2b3c4d · one two three four five six [2Jseven]');
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (summary) => {
        expect(artifactLine({ ...facts, summary })).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u);
      }),
    );
  });

  it('is bounded', () => {
    expect(artifactLine({ ...facts, summary: '😀'.repeat(5000) }).length).toBeLessThan(1000);
  });
});
