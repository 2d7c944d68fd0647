import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { type BundleAsks, type BundleFile, capabilityHash, contentHash, parseToken, trustToken } from '../../../core/bundles/hashes.ts';

const hash = createSha256();
const content = fc.dictionary(fc.stringMatching(/^[a-z]{1,8}(\/[a-z]{1,4})?$/), fc.uint8Array({ maxLength: 32 }), {
  minKeys: 1,
  maxKeys: 6,
});
const filesOf = (files: Readonly<Record<string, Uint8Array>>): BundleFile[] =>
  Object.entries(files).map(([path, bytes]) => ({ path, size: bytes.length, sha256: hash.sha256(bytes) }));

const ASKS: BundleAsks = {
  name: 'hello',
  scope: 'user',
  native: ['a.mjs'],
  imports: ['node:path'],
  capabilities: { hostServices: [], networkHosts: [], filesystemRoots: [], lifecycleMutation: false },
  mcpServers: [],
  skills: [],
};

describe('the content hash', () => {
  it('is the same in whatever order files are listed', () => {
    fc.assert(
      fc.property(
        content.chain((files) =>
          fc.tuple(fc.constant(filesOf(files)), fc.shuffledSubarray(filesOf(files), { minLength: Object.keys(files).length })),
        ),
        ([files, shuffled]) => contentHash(files, hash) === contentHash(shuffled, hash),
      ),
    );
  });

  it('is another one after any change of one byte', () => {
    fc.assert(
      fc.property(content, fc.nat(), fc.nat(), fc.integer({ min: 1, max: 255 }), (files, which, where, by) => {
        const paths = Object.keys(files).filter((path) => (files[path]?.length ?? 0) > 0);
        fc.pre(paths.length > 0);
        const path = paths[which % paths.length] ?? '';
        const bytes = Uint8Array.from(files[path] ?? []);
        const at = where % bytes.length;
        bytes[at] = ((bytes[at] ?? 0) + by) % 256;
        return contentHash(filesOf(files), hash) !== contentHash(filesOf({ ...files, [path]: bytes }), hash);
      }),
    );
  });

  it('is another one when a file comes, goes or is called otherwise', () => {
    fc.assert(
      fc.property(content, (files) => {
        const [path = ''] = Object.keys(files);
        const { [path]: bytes = new Uint8Array(), ...rest } = files;
        const all = [files, rest, { ...rest, [`${path}0`]: bytes }, { ...files, [`${path}0`]: bytes }];
        return new Set(all.map((each) => contentHash(filesOf(each), hash))).size === 4;
      }),
    );
  });

  it('does not take two files for one whose name holds the other', () => {
    const file = (path: string, sha256: string): BundleFile => ({ path, size: 1, sha256 });
    expect(contentHash([file('a', 'b'), file('c', 'd')], hash)).not.toBe(contentHash([file('a', 'b1:c1:1d')], hash));
  });
});

describe('the capability hash', () => {
  it.each<[string, Partial<BundleAsks>]>([
    ['name', { name: 'other' }],
    ['place', { scope: 'workspace', workspace: '/a' }],
    ['entries', { native: ['a.mjs', 'b.mjs'] }],
    ['imports', { imports: [] }],
    ['services', { capabilities: { ...ASKS.capabilities, hostServices: ['files'] } }],
    ['hosts', { capabilities: { ...ASKS.capabilities, networkHosts: ['a.example'] } }],
    ['folders', { capabilities: { ...ASKS.capabilities, filesystemRoots: ['.'] } }],
    ['servers', { mcpServers: [{ name: 'a', transport: 'http', url: 'https://a.example/' }] }],
    ['skills', { skills: ['skills/a'] }],
  ])('is another one for another %s', (_, change) => {
    expect(capabilityHash({ ...ASKS, ...change }, hash)).not.toBe(capabilityHash(ASKS, hash));
  });

  it('is another one for each project, and under another version of the rules', () => {
    const at = (workspace: string) => capabilityHash({ ...ASKS, scope: 'workspace', workspace }, hash);
    expect(at('/a')).not.toBe(at('/b'));
    expect(capabilityHash(ASKS, hash, 2)).not.toBe(capabilityHash(ASKS, hash, 1));
  });
});

describe('a trust token', () => {
  it('is two hashes, and nothing else is one', () => {
    const [a, b] = ['a'.repeat(64), 'b'.repeat(64)];
    expect(parseToken(trustToken(a, b))).toEqual({ content: a, capability: b });
    for (const text of ['', a, `${a}.`, `${a}.${b} `, ` ${a}.${b}`, `${a}.${b}\n`, `${a.toUpperCase()}.${b}`, `${a}.${b}.${b}`]) {
      expect(parseToken(text)).toBeUndefined();
    }
  });
});
