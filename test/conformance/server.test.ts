import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HttpFront, serveHttp } from '../../hosts/mcp/http.ts';
import { createFixture } from './fixture-factory.ts';
import { RUN_MS, runSuite } from './suite-run.ts';

/** An extension that odek does not serve, listed with its reason in docs/mcp.md. */
const NOT_SERVED = /^tasks-/;

let front: HttpFront;

beforeAll(async () => {
  const { factory, announce } = createFixture();
  front = await serveHttp(factory, {
    host: '127.0.0.1',
    port: 0,
    newId: () => randomBytes(16).toString('hex'),
    announce,
    onError: () => {},
  });
});

afterAll(() => front.close());

describe('the conformance suite, against a server of odek’s own parts', () => {
  it.each([
    ['0.1.16 in all scenarios', 'conformance-0-1', ['--suite', 'all'], 32],
    ['0.2 in all scenarios of 2025-11-25', '@modelcontextprotocol/conformance', ['--suite', 'all', '--spec-version', '2025-11-25'], 33],
    ['0.2 in what 2026-07-28 requires', '@modelcontextprotocol/conformance', ['--requirements', '2026-07-28'], 37],
  ] as const)(
    'passes version %s',
    async (_title, name, args, least) => {
      const { scenarios, output } = await runSuite(name, ['server', '--url', front.url, ...args]);
      const judged = scenarios.filter((scenario) => !NOT_SERVED.test(scenario.name));
      expect(judged.length, output).toBeGreaterThanOrEqual(least);
      const failed = judged.filter((scenario) => scenario.failed > 0).map((scenario) => scenario.name);
      expect(failed, output).toEqual([]);
    },
    RUN_MS + 10_000,
  );
});
