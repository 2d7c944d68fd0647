import { describe, expect, it } from 'vitest';
import { createHttpClient } from '../../adapters/http/index.ts';
import { brokenHttpClients } from './http-client.broken.ts';
import { type HttpClientHarness, httpClientSuite } from './http-client.suite.ts';

const subjects: Readonly<Record<string, HttpClientHarness>> = {
  'the operator client': { make: async (allowHosts) => createHttpClient({ mode: 'operator', allowHosts }) },
  'the guarded client': { make: async (allowHosts) => createHttpClient({ mode: 'guarded', allowHosts }) },
};

for (const [name, harness] of Object.entries(subjects)) {
  describe(`${name} keeps the contract of an HTTP client`, () => {
    for (const { id, sentence, run } of httpClientSuite.cases) it(`${id}: ${sentence}`, () => run(harness));
  });
}

describe('the suite of an HTTP client', () => {
  for (const { name, caughtBy, harness } of brokenHttpClients) {
    it(`rejects a client that ${name} (${caughtBy})`, async () => {
      const found = httpClientSuite.cases.find(({ id }) => id === caughtBy);
      await expect(found?.run(harness)).rejects.toThrow();
    });
  }

  it('has a broken client for each of its cases', () => {
    const caught = new Set(brokenHttpClients.map(({ caughtBy }) => caughtBy));
    expect(httpClientSuite.cases.map(({ id }) => id).filter((id) => !caught.has(id))).toEqual([]);
  });
});
