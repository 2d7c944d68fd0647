import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { memoryTools } from './fixture.ts';

const TEN_MIB = 10 * 1024 * 1024;

describe('checksum', () => {
  it.each([
    [undefined, 'sha256', 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'],
    ['sha1', 'sha1', 'a9993e364706816aba3e25717850c26c9cd0d89d'],
    ['md5', 'md5', '900150983cd24fb0d6963f7d28e17f72'],
  ])('tells the digest of a file (%s)', async (algorithm, told, checksum) => {
    const { fs, call } = memoryTools();
    fs.put('a.txt', 'abc');
    expect(await call('checksum', { path: 'a.txt', ...(algorithm && { algorithm }) })).toMatchObject({
      source: 'checksum:a.txt',
      value: { results: [{ path: 'a.txt', algorithm: told, checksum, size: 3 }] },
    });
  });

  it('takes 10 MiB and no byte more', async () => {
    const { fs, call } = memoryTools();
    fs.put('fits', new Uint8Array(TEN_MIB));
    fs.put('over', new Uint8Array(TEN_MIB + 1));
    expect((await call('checksum', { path: 'fits' })).value.results[0].size).toBe(TEN_MIB);
    expect((await call('checksum', { path: 'over' })).value.error).toBe('over has 10485761 bytes; at most 10485760 (10 MiB) are taken');
  });

  it('rejects the list of files that it once took', async () => {
    const check = await createSchemaValidator().compile(memoryTools().registry.get('checksum')?.spec.parameters ?? {});
    expect(check({ path: 'a' })).toEqual([]);
    expect(check({ path: 'a', files: ['b'] })).not.toEqual([]);
    expect(check({ files: ['b'] })).not.toEqual([]);
  });
});

describe('head_tail', () => {
  function tools() {
    const all = memoryTools();
    all.fs.put('log', Array.from({ length: 250 }, (_, at) => `line ${at + 1}\n`).join(''));
    return all;
  }

  it('gives the first ten lines by default, or the last', async () => {
    const head = await tools().call('head_tail', { path: 'log' });
    expect(head.source).toBe('head_tail:log');
    expect(head.value.results).toEqual([
      { path: 'log', lines: Array.from({ length: 10 }, (_, at) => `line ${at + 1}`), count: 10, total: 250 },
    ]);
    const tail = await tools().call('head_tail', { path: 'log', mode: 'tail', lines: 2 });
    expect(tail.value.results).toEqual([{ path: 'log', lines: ['line 249', 'line 250'], count: 2, total: 250 }]);
  });

  it('gives at most 100 lines, and what there is of fewer', async () => {
    const { fs, call } = tools();
    expect((await call('head_tail', { path: 'log', lines: 5000 })).value.results[0].count).toBe(100);
    fs.put('empty', '');
    expect((await call('head_tail', { path: 'empty', mode: 'tail' })).value.results).toEqual([
      { path: 'empty', lines: [], count: 0, total: 0 },
    ]);
  });

  it('cuts lines that do not fit into a result', async () => {
    const { fs, call } = tools();
    fs.put('wide', `${'\u0001'.repeat(400_000)}\nshort\n`);
    const { value, chars } = await call('head_tail', { path: 'wide' });
    expect(chars).toBeLessThanOrEqual(1_200_000);
    expect(value.results[0]).toMatchObject({ count: 2, note: expect.stringContaining('cut after') });
    expect(value.results[0].lines[1]).toBe('short');
  });

  it('refuses a binary file, and the end of a file over 10 MiB', async () => {
    const { fs, call } = tools();
    fs.put('bin', new Uint8Array([65, 0]));
    fs.put('big', 'line\n'.repeat(TEN_MIB / 5 + 10));
    expect((await call('head_tail', { path: 'bin' })).value.error).toContain('binary');
    expect((await call('head_tail', { path: 'big', mode: 'tail' })).value.error).toContain('10485760');
    expect((await call('head_tail', { path: 'big', lines: 1 })).value.results[0]).toMatchObject({
      lines: ['line'],
      note: expect.stringContaining('not looked at'),
    });
  });
});

describe('base64', () => {
  it('encodes a file and text, and decodes a string', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.bin', new Uint8Array([0, 255, 16]));
    expect(await call('base64', { path: 'a.bin' })).toMatchObject({ source: 'base64:a.bin', value: { encoded: 'AP8Q', size: 3 } });
    expect((await call('base64', { content: 'héllo' })).value).toEqual({ encoded: 'aMOpbGxv', size: 6 });
    expect((await call('base64', { string: 'aMOp\nbGxv', decode: true })).value).toEqual({ decoded: 'héllo', size: 6 });
    expect((await call('base64', { string: '_-8', decode: true })).value.error).toContain('not UTF-8');
  });

  it('gives back what it took, for any text', async () => {
    const { call } = memoryTools();
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), async (text) => {
        const wellFormed = text.toWellFormed();
        const { value } = await call('base64', { content: wellFormed });
        expect((await call('base64', { string: value.encoded, decode: true })).value.decoded).toBe(wellFormed);
        expect(value.encoded).toBe(Buffer.from(wellFormed).toString('base64'));
      }),
    );
  });

  it.each([
    [{}, 'exactly one'],
    [{ path: 'a', content: 'b' }, 'exactly one'],
    [{ string: 'YQ==' }, 'set decode to true'],
    [{ string: 'a$b', decode: true }, 'not base64'],
    [{ string: 'abcde', decode: true }, 'not base64'],
    [{ string: 'gICA', decode: true }, 'not UTF-8 text'],
  ])('says what is wrong with %o', async (input, error) => {
    expect(await memoryTools().call('base64', input)).toMatchObject({ failed: true, value: { error: expect.stringContaining(error) } });
  });

  it('takes 10 MiB and no byte more, and cuts what does not fit into a result where it still decodes', async () => {
    const { fs, call } = memoryTools();
    fs.put('fits', new Uint8Array(TEN_MIB).fill(7));
    const { value, chars } = await call('base64', { path: 'fits' });
    expect(chars).toBeLessThanOrEqual(1_200_000);
    expect(value).toMatchObject({ size: TEN_MIB, note: 'encoded holds the first 786432 of 10485760 bytes' });
    expect(Buffer.from(value.encoded, 'base64')).toHaveLength(786_432);
    fs.put('over', new Uint8Array(TEN_MIB + 1));
    expect((await call('base64', { path: 'over' })).value.error).toContain('10485761');
    expect((await call('base64', { content: 'x'.repeat(TEN_MIB + 1) })).value.error).toContain('10485761');
    const long = Buffer.from('y'.repeat(2_000_000)).toString('base64');
    const decoded = await call('base64', { string: long, decode: true });
    expect(decoded.value).toMatchObject({ size: 2_000_000, note: expect.stringContaining('of 2000000 characters') });
    expect(decoded.chars).toBeLessThanOrEqual(1_200_000);
  });
});
