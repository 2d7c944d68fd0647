import { cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createSystemClock } from '../../adapters/clock/system.ts';
import { createHttpClient, hostPort } from '../../adapters/http/index.ts';
import type { DefinitionOf } from '../../hosts/adapters.ts';
import type { WireEvent } from '../../ports/event.ts';
import { type LlmProviderHarness, llmProviderSuite } from '../contracts/llm-provider.suite.ts';
import { copyRepository, type Installed, installPackage, ROOT, run, succeed } from '../package/packed.ts';
import { startOllamaServer } from './ollama-server.ts';
import { putRecipe, recipeCode } from './recipe-page.ts';

const RECORDING = join(ROOT, 'docs/examples/first-run.json');

describe('the recipes, followed to the letter', () => {
  let odek: Installed;

  beforeAll(async () => {
    odek = await installPackage();
  }, 180_000);

  afterAll(() => odek?.remove());

  /** A state folder with the page's configuration in it, far from any installed package. */
  async function stateFolder(adapter: string, configuration: string): Promise<string> {
    const home = join(odek.folder, '..', `home-${adapter}`);
    await mkdir(home, { mode: 0o700 });
    await putRecipe(home, adapter);
    await writeFile(join(home, 'config.json'), configuration, { mode: 0o600 });
    return home;
  }

  test('"Add a sink" passes the suite with the check of the page', async () => {
    for (const title of ['run-files.mjs', 'check-run-files.mjs']) await putRecipe(odek.folder, title);
    const ended = await succeed(process.execPath, ['check-run-files.mjs'], { cwd: odek.folder });
    expect(ended.stdout.match(/^ok event-sink\//gm)?.length).toBeGreaterThanOrEqual(5);
  });

  test('"Add a sink" gets every event of a run, loaded from beside the configuration file', async () => {
    const home = await stateFolder('run-files.mjs', recipeCode('run-files.json'));
    const project = join(odek.folder, 'project-sink');
    await cp(join(ROOT, 'docs/examples/sample'), project, { recursive: true });
    const args = ['run', '--replay', RECORDING, '--json', '--events-jsonl', join(home, 'own.jsonl'), 'Report.'];
    const ended = await succeed(odek.command, args, { cwd: project, env: { ODEK_HOME: home } });
    const { run_id: runId } = JSON.parse(ended.stdout) as { readonly run_id: string };
    expect(await readdir(join(project, 'run-events'))).toEqual([`${runId}.jsonl`]);
    const lines = (text: string): WireEvent[] =>
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as WireEvent);
    const events = lines(await readFile(join(project, 'run-events', `${runId}.jsonl`), 'utf8'));
    expect(events).toEqual(lines(await readFile(join(home, 'own.jsonl'), 'utf8')));
    expect(events.length).toBeGreaterThan(5);
  });

  test('"Add a sink" in a project`s configuration loads nothing', async () => {
    const project = join(odek.folder, 'project-evil');
    await mkdir(project);
    await writeFile(join(project, 'evil.mjs'), `import { writeFileSync } from 'node:fs'; writeFileSync('loaded', ''); export default {};`);
    await writeFile(join(project, 'odek.json'), '{"adapters":["./evil.mjs"],"sinks":{"evil":{}}}');
    const home = join(odek.folder, '..', 'home-plain');
    await mkdir(home, { mode: 0o700 });
    const ended = await run(odek.command, ['run', '--replay', RECORDING, '--json', 'Report.'], { cwd: project, env: { ODEK_HOME: home } });
    expect(ended.stderr).toContain('adapters');
    expect(await readdir(project)).not.toContain('loaded');
  });

  describe('"Add a provider"', () => {
    let harness: LlmProviderHarness;

    beforeAll(async () => {
      await putRecipe(odek.folder, 'ollama.mjs');
      const adapter = (await import(pathToFileURL(join(odek.folder, 'ollama.mjs')).href)) as {
        readonly default: DefinitionOf<'llm-provider'>;
      };
      harness = {
        async make(scenario) {
          const server = await startOllamaServer([scenario]);
          const http = createHttpClient({ mode: 'operator', allowHosts: [hostPort(new URL(server.url))] });
          const provider = await adapter.default.create(
            { base_url: server.url },
            { clock: createSystemClock(), http, log: () => undefined },
          );
          return {
            provider,
            requests: () => server.bodies.length,
            connections: server.connections,
            dispose: async () => {
              await provider.close();
              await http.close();
              await server.close();
            },
          };
        },
      };
    });

    test.each(llmProviderSuite.cases)('keeps the contract: $sentence', ({ run: check }) => check(harness));

    test('answers a task with a tool call in between, configured as the page says', async () => {
      const server = await startOllamaServer(['one_tool_call', 'plain_text']);
      try {
        const configuration = recipeCode('ollama.json').replace('http://127.0.0.1:11434', server.url);
        const home = await stateFolder('ollama.mjs', configuration);
        const project = join(odek.folder, 'project-provider');
        await mkdir(project);
        await writeFile(join(project, 'a.txt'), 'what the file says\n');
        const ended = await succeed(odek.command, ['run', '--json', 'Read a.txt.'], { cwd: project, env: { ODEK_HOME: home } });
        expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: 'answer', answer: 'Hello, wörld 🎉', iterations: 2 });
        expect(server.bodies).toHaveLength(2);
        expect(server.bodies[0]).toMatchObject({
          model: 'qwen3',
          messages: expect.arrayContaining([{ role: 'user', content: 'Read a.txt.' }]),
        });
        expect(JSON.stringify(server.bodies[1])).toContain('what the file says');
      } finally {
        await server.close();
      }
    });
  });

  test('"Add a tool" keeps the contract after one folder and one line, and a run calls it', { timeout: 60_000 }, async () => {
    const copy = join(odek.folder, '..', 'copy');
    await copyRepository(copy);
    await putRecipe(copy, 'plugins/word-count/index.ts');
    const registry = join(copy, 'plugins/index.ts');
    const before = await readFile(registry, 'utf8');
    const after = before.replace('export const PLUGINS = {\n', `export const PLUGINS = {\n${recipeCode('plugins/index.ts')}\n`);
    expect(after).not.toBe(before);
    await writeFile(registry, after);
    const vitest = [
      join(copy, 'node_modules/vitest/vitest.mjs'),
      'run',
      '--config',
      'test/config/vitest.config.ts',
      'test/contracts/plugin.test.ts',
    ];
    const suite = await succeed(process.execPath, [...vitest, '--reporter', 'verbose', '-t', 'word-count'], { cwd: copy, env: { CI: '' } });
    expect(suite.stdout).toMatch(/✓.*the plugin "word-count" keeps the contract/);

    const project = join(odek.folder, 'project-tool');
    const home = join(odek.folder, '..', 'home-tool');
    for (const folder of [project, home]) await mkdir(folder, { mode: 0o700 });
    await writeFile(join(project, 'a.txt'), 'one two three\n');
    const call = { id: 'call_1', name: 'word_count', arguments: '{"path":"a.txt"}' };
    const exchanges = [
      { request: { messages: [{ role: 'user' }] }, reply: { calls: [call] } },
      {
        request: { continues: true, messages: [{ role: 'tool', callId: 'call_1', name: 'word_count', includes: '3 words' }] },
        reply: { steps: [{ text: 'Three.' }] },
      },
    ];
    await writeFile(join(home, 'recording.json'), JSON.stringify({ format: 'odek.recording/v1', exchanges }));
    const args = [join(copy, 'hosts/entry.ts'), 'run', '--replay', join(home, 'recording.json'), '--json', 'Count.'];
    const ended = await succeed(process.execPath, args, { cwd: project, env: { ODEK_HOME: home } });
    expect(JSON.parse(ended.stdout)).toMatchObject({ outcome: 'answer', answer: 'Three.' });
  });
});
