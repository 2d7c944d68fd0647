import { describe, expect, it } from 'vitest';
import { createArtifactDesk } from '../../../core/artifacts/desk.ts';
import type { ArtifactRef } from '../../../core/artifacts/ref.ts';
import { textPage } from '../../../core/artifacts/text-page.ts';
import { createMemoryArtifactFiles, createMemoryArtifactLedger } from '../../fakes/artifacts.ts';

const signal = new AbortController().signal;

function setUp() {
  const files = createMemoryArtifactFiles();
  const ledger = createMemoryArtifactLedger();
  files.put('/art/a', 'abc');
  files.put('/art/b', 'abcd');
  const desk = createArtifactDesk({ files, ledger });
  const accept = (refs: readonly ArtifactRef[], roots: readonly string[] = ['/art']) =>
    desk.accept(refs, { session: 's', source: 'mcp:a:b', roots, signal });
  return { files, ledger, desk, accept };
}

const ref = (id: string, facts: Partial<ArtifactRef> = {}): ArtifactRef => ({ id, path: `/art/${id}`, mediaType: 'text/plain', ...facts });

describe('the artifacts of a result', () => {
  it('are entered all or not at all', async () => {
    const { accept, ledger } = setUp();
    await expect(accept([ref('a'), ref('gone')])).rejects.toMatchObject({
      code: 'artifact_missing',
      message: 'artifact "gone": there is no such file',
    });
    expect(await ledger.find('s', 'a')).toBeUndefined();
    await accept([ref('a'), ref('b')]);
    expect(await ledger.find('s', 'a')).toMatchObject({ source: 'mcp:a:b', roots: ['/art'], sizeBytes: 3 });
  });

  it('are named by the id under which they can be read', async () => {
    const { accept, desk } = setUp();
    await accept([ref('a')]);
    const [line] = await accept([ref('a', { path: '/art/b' })]);
    expect(line).toMatch(/^\[artifact a\.2 · text\/plain · 4 bytes/);
    expect(await desk.read({ session: 's', id: 'a.2', offset: 0, signal })).toMatchObject({ text: 'abcd' });
    expect((await accept([ref('a')]))[0]).toMatch(/^\[artifact a · /);
  });

  it('may have 64 MiB each and no more', async () => {
    const { accept, files } = setUp();
    files.put('/art/large', Buffer.alloc(64 * 1024 * 1024));
    await expect(accept([ref('large')])).resolves.toHaveLength(1);
    files.put('/art/larger', Buffer.alloc(64 * 1024 * 1024 + 1));
    await expect(accept([ref('larger')])).rejects.toMatchObject({ code: 'artifact_too_large', value: 67_108_865, limit: 67_108_864 });
  });

  it('are refused where there is no root, before anything is looked at', async () => {
    const { accept } = setUp();
    for (const roots of [[], [''], [' ']])
      await expect(accept([ref('gone')], roots)).rejects.toMatchObject({ code: 'artifact_outside_roots' });
    await expect(accept([], [])).resolves.toEqual([]);
  });

  it('are not looked at once the call is cancelled', async () => {
    const { desk } = setUp();
    const origin = { session: 's', source: 'x', roots: ['/art'], signal: AbortSignal.abort() };
    await expect(desk.accept([ref('a')], origin)).rejects.toMatchObject({ code: 'cancelled' });
  });
});

describe('a page of text', () => {
  it('begins behind a character that was cut before it', () => {
    const bytes = Buffer.from('a€b');
    expect(textPage(bytes.subarray(2), 2, 5)).toEqual({ offset: 4, text: 'b' });
    expect(textPage(bytes.subarray(0, 3), 0, 5)).toEqual({ offset: 0, nextOffset: 1, text: 'a' });
    expect(textPage(bytes.subarray(0, 0), 9, 5)).toEqual({ offset: 9, text: '' });
  });
});
