import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../adapters/hash/sha256.ts';
import { createHttpClient } from '../../adapters/http/index.ts';
import { createSchemaValidator } from '../../adapters/schema/ajv.ts';
import { createPlanStore } from '../../core/plan/store.ts';
import { loadPlugins } from '../../plugins/index.ts';
import { createFakeClarifier } from '../fakes/clarifier.ts';
import { createMemoryFileSystem } from '../fakes/file-system.ts';
import { createFakeProcessRunner } from '../fakes/process.ts';
import { createMemorySkills } from '../fakes/skills.ts';
import { memoryReaderHarness } from './artifact-reader.broken.ts';
import { configViewHarness } from './config-view.broken.ts';
import { deskHarness } from './job-control.broken.ts';
import { brokenPlugins, samplePlugin } from './plugin.broken.ts';
import { pluginSuite } from './plugin.suite.ts';
import { memorySearchHarness } from './session-search.broken.ts';
import { catalogueHarness } from './tool-catalogue.broken.ts';

const guarded = createHttpClient({ mode: 'guarded' });
const services = {
  fs: createMemoryFileSystem(),
  process: createFakeProcessRunner({ programs: {} }),
  logger: { log: () => {} },
  jobs: (await deskHarness().make()).control,
  sessions: (await memorySearchHarness().make([])).search,
  config: configViewHarness().make('canary'),
  catalogue: catalogueHarness().make().catalogue,
  artifacts: (await memoryReaderHarness().make()).reader,
  skillCatalogue: createMemorySkills([]),
  clarifier: createFakeClarifier().clarifier,
  http: guarded,
  searchEngine: { baseUrl: 'http://127.0.0.1:9', categories: '', language: '', maxResults: 10, timeoutMs: 1000, http: guarded },
  plan: createPlanStore({ maxSteps: 12, maxRenderChars: 2000, hash: createSha256() }),
};
const subjects = [...(await loadPlugins()), samplePlugin];

for (const plugin of subjects) {
  describe(`the plugin "${plugin.name}" keeps the contract of a plugin`, () => {
    const harness = { plugin, services, validator: createSchemaValidator() };
    for (const { id, sentence, run } of pluginSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of a plugin', () => {
  for (const { name, caughtBy, harness } of brokenPlugins) {
    it(`rejects a plugin that ${name} (${caughtBy})`, async () => {
      const found = pluginSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken plugin for each of its cases', () => {
    const caught = new Set(brokenPlugins.map(({ caughtBy }) => caughtBy));
    expect(pluginSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
