import { describe, expect, it } from 'vitest';
import { createArtifactDesk } from '../../../core/artifacts/desk.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import artifact from '../../../plugins/artifact/index.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import { createMemoryArtifactFiles, createMemoryArtifactLedger } from '../../fakes/artifacts.ts';

async function setUp() {
  const files = createMemoryArtifactFiles();
  const desk = createArtifactDesk({ files, ledger: createMemoryArtifactLedger() });
  const registry = createToolRegistry();
  artifact.apply({ tools: registry.registrar('artifact'), artifacts: desk }, {});
  files.put('/art/log', 'line\n'.repeat(20_000));
  const signal = new AbortController().signal;
  await desk.accept([{ id: 'log', path: '/art/log', mediaType: 'text/plain' }], {
    session: 's-1',
    source: 'mcp:a:b',
    roots: ['/art'],
    signal,
  });
  const call = async (input: object, sessionId = 's-1', given = signal) => {
    const exec = { signal: given, callId: 'c', args: input, workspace: '/w', dataDir: '/d', sessionId };
    const result = await registry.get('artifact_read')?.spec.execute(input as never, exec);
    const { content, ...rest } = (result ?? { content: 'null' }) as ToolResult;
    // biome-ignore lint/suspicious/noExplicitAny: the parsed JSON of a result, which tests look into.
    return { ...rest, value: JSON.parse(content) as any };
  };
  return { registry, call, files };
}

describe('artifact_read', () => {
  it('is told to a model in at most 600 bytes and touches nothing that needs a person', async () => {
    const { registry } = await setUp();
    expect(Buffer.byteLength(JSON.stringify(registry.definitions()[0]))).toBeLessThanOrEqual(600);
    expect(registry.get('artifact_read')?.spec.effects?.({} as never)).toEqual({});
  });

  it('takes an id and an offset and no path', async () => {
    const { registry } = await setUp();
    expect(registry.get('artifact_read')?.spec.parameters).toMatchObject({ required: ['id'], additionalProperties: false });
    expect(Object.keys(registry.get('artifact_read')?.spec.parameters.properties as object)).toEqual(['id', 'offset']);
  });

  it('gives pages of 64 KiB with where the next one begins, labelled by the id', async () => {
    const { call } = await setUp();
    const first = await call({ id: 'log' });
    expect(first).toMatchObject({
      source: 'artifact:log',
      value: { id: 'log', media_type: 'text/plain', size_bytes: 100_000, offset: 0, next_offset: 65_536 },
    });
    const second = await call({ id: 'log', offset: 65_536 });
    expect(second.value).not.toHaveProperty('next_offset');
    expect(first.value.content + second.value.content).toBe('line\n'.repeat(20_000));
  });

  it('fails with what is wrong for an unknown id, another session and a swapped file', async () => {
    const { call, files } = await setUp();
    expect(await call({ id: '/art/log' })).toMatchObject({
      failed: true,
      value: { error: expect.stringContaining('has no artifact "/art/log"') },
    });
    expect(await call({ id: 'log' }, 's-2')).toMatchObject({
      failed: true,
      value: { error: expect.stringContaining('has no artifact "log"') },
    });
    files.put('/art/log', 'something else');
    expect(await call({ id: 'log' })).toMatchObject({ failed: true, value: { error: expect.stringContaining('its content has changed') } });
  });

  it('is cancelled with its call', async () => {
    const { call } = await setUp();
    await expect(call({ id: 'log' }, 's-1', AbortSignal.abort())).rejects.toMatchObject({ code: 'cancelled' });
  });
});
