import { describe, expect, it } from 'vitest';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { loadPlugins } from '../../../plugins/index.ts';
import { createMemoryFileSystem } from '../../fakes/file-system.ts';
import { createFakeProcessRunner } from '../../fakes/process.ts';

describe('the first seven tools', () => {
  it('are told to a model in at most 6,000 bytes', async () => {
    const registry = createToolRegistry();
    const services = { tools: registry.registrar('all'), fs: createMemoryFileSystem(), process: createFakeProcessRunner({ programs: {} }) };
    for (const plugin of await loadPlugins(['files', 'shell'])) await plugin.apply(services as never, {});
    expect(registry.list().map(({ spec }) => spec.name)).toEqual([
      'file_info',
      'glob',
      'patch',
      'read_file',
      'search_files',
      'shell',
      'write_file',
    ]);
    expect(Buffer.byteLength(JSON.stringify(registry.definitions()))).toBeLessThanOrEqual(6000);
  });

  it('are bounded by their own limits, but for the shell', async () => {
    const registry = createToolRegistry();
    const services = { tools: registry.registrar('all'), fs: createMemoryFileSystem(), process: createFakeProcessRunner({ programs: {} }) };
    for (const plugin of await loadPlugins(['files', 'shell'])) await plugin.apply(services as never, {});
    expect(
      registry
        .list()
        .filter(({ spec }) => spec.maxResultChars === undefined)
        .map(({ spec }) => spec.name),
    ).toEqual(['shell']);
  });
});
