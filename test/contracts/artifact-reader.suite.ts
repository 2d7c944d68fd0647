import assert from 'node:assert/strict';
import type { ArtifactErrorCode, ArtifactReader, ArtifactText } from '../../ports/artifact.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** A reader with one session, and ways to give it artifacts and to change their files. */
export interface ArtifactReaderPlace {
  readonly reader: ArtifactReader;
  readonly session: string;
  /** Enters a file of this content; gives its path. */
  add(id: string, content: string | Uint8Array): Promise<string>;
  /** Writes other content into a file. */
  overwrite(path: string, content: string): Promise<void>;
  remove(path: string): Promise<void>;
  /** Puts a link in the place of a file, to a file outside of the roots with the same content. */
  moveOut(path: string): Promise<void>;
  close(): Promise<void>;
}

export interface ArtifactReaderHarness {
  make(): Promise<ArtifactReaderPlace>;
}

const PAGE = 64 * 1024;

async function read({ reader, session }: ArtifactReaderPlace, id: string, offset = 0): Promise<ArtifactText> {
  return reader.read({ session, id, offset, signal: new AbortController().signal });
}

async function refusal(place: ArtifactReaderPlace, id: string): Promise<{ readonly code: ArtifactErrorCode; readonly message: string }> {
  try {
    await read(place, id);
  } catch (error) {
    return error as { code: ArtifactErrorCode; message: string };
  }
  throw new assert.AssertionError({ message: `${id} was read` });
}

async function readAll(
  place: ArtifactReaderPlace,
  id: string,
): Promise<{ readonly text: string; readonly pages: readonly ArtifactText[] }> {
  const pages: ArtifactText[] = [];
  for (let offset: number | undefined = 0; offset !== undefined && pages.length < 100; offset = pages.at(-1)?.nextOffset) {
    pages.push(await read(place, id, offset));
  }
  return { text: pages.map(({ text }) => text).join(''), pages };
}

function over(id: string, sentence: string, test: (place: ArtifactReaderPlace) => Promise<void>): ContractCase<ArtifactReaderHarness> {
  return {
    id: `artifact-reader/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.make();
      try {
        await test(place);
      } finally {
        await place.close();
      }
    },
  };
}

/** The contract of {@link ArtifactReader}. */
export const artifactReaderSuite: ContractSuite<ArtifactReaderHarness> = {
  port: 'ArtifactReader',
  cases: [
    over('page', 'a page has at most 64 KiB of the file, ends between characters and says where the next one begins', async (place) => {
      await place.add('a', `x${'ä'.repeat(PAGE)}`);
      const page = await read(place, 'a');
      assert.equal(page.offset, 0);
      assert.equal(page.sizeBytes, 1 + 2 * PAGE);
      assert.equal(page.text, `x${'ä'.repeat((PAGE - 2) / 2)}`);
      assert.equal(page.nextOffset, PAGE - 1);
    }),
    over('whole', 'all pages together are the file', async (place) => {
      const contents = ['', 'short', 'a€😀'.repeat(30_000), `${'-'.repeat(PAGE)}`, `${'-'.repeat(PAGE - 1)}😀 end`, '\uFEFFwith a mark'];
      for (const [at, content] of contents.entries()) {
        await place.add(`f${at}`, content);
        const { text, pages } = await readAll(place, `f${at}`);
        assert.ok(text === content, `file ${at} came back as it is`);
        assert.equal(pages.at(-1)?.nextOffset, undefined);
      }
    }),
    over('unknown', 'an id that the session does not have is `artifact_unknown`', async (place) => {
      await place.add('a', 'abc');
      assert.equal((await refusal(place, 'b')).code, 'artifact_unknown');
      await assert.rejects(read({ ...place, session: 'another' }, 'a'), { code: 'artifact_unknown' });
    }),
    over('checked', 'a file that is gone, has moved out of its roots or has other bytes is refused', async (place) => {
      const paths = {
        gone: await place.add('gone', 'abc'),
        moved: await place.add('moved', 'abc'),
        other: await place.add('other', 'abc'),
      };
      await place.remove(paths.gone);
      await place.moveOut(paths.moved);
      await place.overwrite(paths.other, 'abd');
      assert.equal((await refusal(place, 'gone')).code, 'artifact_missing');
      assert.equal((await refusal(place, 'moved')).code, 'artifact_outside_roots');
      assert.equal((await refusal(place, 'other')).code, 'artifact_changed');
    }),
    over('text', 'a file that is not UTF-8 text is `artifact_not_text`', async (place) => {
      const binary = { zero: Uint8Array.of(65, 0, 66), latin: Uint8Array.of(65, 0xe4, 66), cut: Uint8Array.of(65, 0xe2, 0x82) };
      for (const [id, content] of Object.entries(binary)) {
        await place.add(id, content);
        assert.equal((await refusal(place, id)).code, 'artifact_not_text', id);
      }
    }),
    over('discreet', 'no answer and no error names the path', async (place) => {
      const path = await place.add('a', 'abc');
      assert.ok(!JSON.stringify(await read(place, 'a')).includes(path));
      await place.overwrite(path, 'abd');
      assert.ok(!(await refusal(place, 'a')).message.includes(path));
      await place.remove(path);
      assert.ok(!(await refusal(place, 'a')).message.includes(path));
    }),
  ],
};
