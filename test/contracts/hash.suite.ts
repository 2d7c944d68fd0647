import assert from 'node:assert/strict';
import type { Hash } from '../../ports/hash.ts';
import type { ContractSuite } from './suite.ts';

export interface HashHarness {
  make(): Hash;
}

const OF_NOTHING = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const OF_ABC = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad';
const OF_E_ACUTE = '4a99557e4033c3539de2eb65472017cad5f9557f7a0625a09f1c3f6e2ba69c4c';

/** What every {@link Hash} keeps. */
export const hashSuite: ContractSuite<HashHarness> = {
  port: 'hash',
  cases: [
    {
      id: 'hash/sha256',
      sentence: 'sha256 returns the 64 lower-case hex digits of the digest.',
      async run({ make }) {
        assert.equal(make().sha256('abc'), OF_ABC);
        assert.equal(make().sha256(''), OF_NOTHING);
      },
    },
    {
      id: 'hash/utf8',
      sentence: 'Text is hashed as UTF-8.',
      async run({ make }) {
        assert.equal(make().sha256('é'), OF_E_ACUTE);
      },
    },
    {
      id: 'hash/bytes',
      sentence: 'Bytes are hashed as they are.',
      async run({ make }) {
        assert.equal(make().sha256(new Uint8Array([0xc3, 0xa9])), OF_E_ACUTE);
        const window = new Uint8Array([1, 97, 98, 99, 2]).subarray(1, 4);
        assert.equal(make().sha256(window), OF_ABC);
      },
    },
  ],
};
