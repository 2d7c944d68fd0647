import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createAdapter, type LoadAdaptersOptions, loadAdapters, MAX_ADAPTERS } from '../../hosts/adapters.ts';
import type { AdapterServices } from '../../ports/adapter.ts';

let folder = '';
let options: LoadAdaptersOptions;

const SINK = `export default { port: 'event-sink', name: 'NAME', create: () => ({ accept: async () => {}, close: async () => {} }) };`;

const services = { log: () => undefined } as unknown as AdapterServices;

async function put(file: string, text: string): Promise<void> {
  await mkdir(dirname(join(folder, file)), { recursive: true });
  await writeFile(join(folder, file), text);
}

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-adapters-'));
  options = { configFile: join(folder, 'config.json'), taken: { 'llm-provider': ['openai'], 'event-sink': ['jsonl'] } };
});

afterEach(() => rm(folder, { recursive: true, force: true }));

describe('loadAdapters', () => {
  test('finds a path from the folder of the configuration file', async () => {
    await put('sinks/mine.mjs', SINK.replace('NAME', 'mine'));
    const loaded = await loadAdapters(['./sinks/mine.mjs'], options);
    expect([...loaded.sinks.keys()]).toEqual(['mine']);
    expect(loaded.providers.size).toBe(0);
  });

  test('takes TypeScript files, absolute paths and packages, also those with import-only exports', async () => {
    await put('typed.ts', `const name: string = 'typed';\n${SINK.replace("'NAME'", 'name')}`);
    await put('node_modules/plain/package.json', '{"name":"plain","type":"module","main":"main.js"}');
    await put('node_modules/plain/main.js', SINK.replace('NAME', 'plain'));
    await put('node_modules/@scope/modern/package.json', '{"name":"@scope/modern","exports":{".":{"import":"./lib/x.mjs"}}}');
    await put('node_modules/@scope/modern/lib/x.mjs', SINK.replace('NAME', 'modern'));
    const loaded = await loadAdapters([join(folder, 'typed.ts'), 'plain', '@scope/modern'], options);
    expect([...loaded.sinks.keys()]).toEqual(['typed', 'plain', 'modern']);
  });

  test('keeps names apart by port', async () => {
    await put('a.mjs', SINK.replace('NAME', 'twin'));
    await put('b.mjs', `export default { port: 'llm-provider', name: 'twin', create: () => ({}) };`);
    const loaded = await loadAdapters(['./a.mjs', './b.mjs'], options);
    expect([...loaded.sinks.keys(), ...loaded.providers.keys()]).toEqual(['twin', 'twin']);
  });

  test.each([
    ['a missing file', './none.mjs', '', 'adapter_not_found', 'none.mjs'],
    ['a missing package', 'no-such-package-here', '', 'adapter_not_found', 'no-such-package-here'],
    ['a file that throws', './x.mjs', `throw new Error('boom');`, 'adapter_failed', 'boom'],
    ['a file with a syntax error', './x.mjs', 'export default {', 'adapter_failed', 'x.mjs'],
    ['a file without default export', './x.mjs', 'export const a = 1;', 'invalid_adapter', 'defineAdapter'],
    [
      'an unknown port',
      './x.mjs',
      `export default { port: 'clock', name: 'x', create() {} };`,
      'invalid_adapter',
      'llm-provider, event-sink',
    ],
    [
      'a port named like a property of every object',
      './x.mjs',
      `export default { port: 'toString', name: 'x', create() {} };`,
      'invalid_adapter',
      'toString',
    ],
    ['a name of other letters', './x.mjs', SINK.replace('NAME', 'My_Sink'), 'invalid_adapter', 'My_Sink'],
    ['a name of 65 letters', './x.mjs', SINK.replace('NAME', 'a'.repeat(65)), 'invalid_adapter', '1 to 64'],
    ['no create', './x.mjs', `export default { port: 'event-sink', name: 'x' };`, 'invalid_adapter', 'create'],
    ['a name that odek has', './x.mjs', SINK.replace('NAME', 'jsonl'), 'adapter_name_taken', 'jsonl'],
  ])('refuses %s with a configuration error that names it', async (_, entry, text, code, words) => {
    if (text !== '') await put('x.mjs', text);
    const failure = await loadAdapters([entry], options).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ConfigError', code });
    expect((failure as Error).message).toContain(words);
  });

  test('refuses the second of two adapters of one name', async () => {
    await put('a.mjs', SINK.replace('NAME', 'twin'));
    await put('b.mjs', SINK.replace('NAME', 'twin'));
    await expect(loadAdapters(['./a.mjs', './b.mjs'], options)).rejects.toMatchObject({ code: 'adapter_name_taken', value: 'twin' });
  });

  test('does not wait for a file that never finishes loading', async () => {
    await put('slow.mjs', 'await new Promise((done) => setTimeout(done, 60_000).unref());');
    const late = loadAdapters(['./slow.mjs'], { ...options, timeoutMs: 50 });
    await expect(late).rejects.toMatchObject({ code: 'adapter_failed', limit: 50 });
  });

  test('refuses more entries than its limit', async () => {
    const many = Array.from({ length: MAX_ADAPTERS + 1 }, (_, at) => `./${at}.mjs`);
    await expect(loadAdapters(many, options)).rejects.toMatchObject({ code: 'too_many_adapters', limit: MAX_ADAPTERS });
  });
});

describe('createAdapter', () => {
  const sink = { accept: async () => undefined, close: async () => undefined };

  test('hands options and services to create and returns what it made', async () => {
    const seen: unknown[] = [];
    const definition = {
      port: 'event-sink' as const,
      name: 'mine',
      create: (...given: unknown[]) => {
        seen.push(...given);
        return sink;
      },
    };
    expect(await createAdapter<'event-sink'>(definition, { a: 1 }, services)).toBe(sink);
    expect(seen).toEqual([{ a: 1 }, services]);
  });

  test('names the methods that are missing', async () => {
    const definition = { port: 'event-sink' as const, name: 'mine', create: () => ({ accept: sink.accept }) as unknown as typeof sink };
    const failure = await createAdapter<'event-sink'>(definition, {}, services).catch((error: unknown) => error);
    expect(failure).toMatchObject({ name: 'ConfigError', code: 'invalid_adapter' });
    expect((failure as Error).message).toContain('lacks close');
  });

  test('turns a throw, and a wait without end, into a configuration error', async () => {
    const throws = { port: 'event-sink' as const, name: 'mine', create: () => Promise.reject(new TypeError('no url')) };
    await expect(createAdapter<'event-sink'>(throws, {}, services)).rejects.toMatchObject({ code: 'adapter_failed' });
    const hangs = { port: 'event-sink' as const, name: 'mine', create: () => new Promise<never>(() => undefined) };
    await expect(createAdapter<'event-sink'>(hangs, {}, services, 50)).rejects.toMatchObject({ code: 'adapter_failed', limit: 50 });
  });
});
