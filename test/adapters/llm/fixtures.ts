import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { HttpClient } from '../../../ports/http.ts';
import type { LlmProvider } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import type { AssistantMessage } from '../../../ports/message.ts';
import { cannedClient, collect, startRawServer } from './wire.ts';

export interface FixtureSet {
  /** Folder below `test/fixtures/llm/`. */
  readonly folder: string;
  /** The least number of fixtures, so that an empty folder proves nothing. */
  readonly atLeast: number;
  /** `baseUrl` is the address of a real server that gives the reply; absent for a client in memory. */
  make(http: HttpClient, baseUrl?: string): LlmProvider;
}

/** The outcome in the form of `expected.json`; deltas must add up to the answer. */
async function outcome(provider: LlmProvider): Promise<object> {
  try {
    const events = await collect(provider);
    const last = events.at(-1);
    if (last?.type !== 'response') return { error: 'no response' };
    const told = (type: string): string => events.map((event) => (event.type === type && 'text' in event ? event.text : '')).join('');
    expect(told('text_delta')).toBe(last.message.content);
    expect(told('reasoning_delta')).toBe(last.message.reasoning ?? '');
    const { role: _, ...message }: AssistantMessage = last.message;
    return { ...message, finish: last.finish, ...(last.usage === undefined ? {} : { usage: last.usage }) };
  } catch (error) {
    if (!(error instanceof ProviderError)) throw error;
    return { error: error.code };
  }
}

/** Recorded replies as bytes: delivered whole, byte by byte, cut at every boundary, and broken off everywhere. */
export function testFixtures(what: string, { folder: name, atLeast, make }: FixtureSet): void {
  const folder = new URL(`../../fixtures/llm/${name}/`, import.meta.url);
  const expected = JSON.parse(readFileSync(new URL('expected.json', folder), 'utf8')) as Record<string, object>;
  const over = (chunks: readonly Uint8Array[]): Promise<object> => outcome(make(cannedClient({ chunks })));

  describe(what, () => {
    it('are all listed with what they mean', () => {
      expect(readdirSync(folder).sort()).toEqual([...Object.keys(expected), 'expected.json'].sort());
      expect(Object.keys(expected).length).toBeGreaterThanOrEqual(atLeast);
    });

    for (const [file, want] of Object.entries(expected)) {
      const bytes = new Uint8Array(readFileSync(new URL(file, folder)));

      it(`${file} means the same whole and byte by byte over a real connection`, async () => {
        for (const pieceSize of [Math.max(1, bytes.length), 1]) {
          const server = await startRawServer(bytes, pieceSize);
          try {
            expect(await outcome(make(server.client, server.url))).toEqual(want);
          } finally {
            await server.close();
          }
        }
      });

      it(`${file} means the same wherever it is split in two`, async () => {
        for (let at = 1; at < bytes.length; at += 1) {
          expect(await over([bytes.subarray(0, at), bytes.subarray(at)]), `split at ${at}`).toEqual(want);
        }
        expect(await over([...bytes].map((byte) => Uint8Array.of(byte)))).toEqual(want);
      });

      it(`${file} is never taken for another answer when it breaks off`, async () => {
        for (let length = 0; length < bytes.length; length += 1) {
          const got = await over([bytes.subarray(0, length)]);
          if ('error' in got) continue;
          const { usage: _got, ...answer } = got as { usage?: object };
          const { usage: _want, ...whole } = want as { usage?: object };
          expect(answer, `broken off after ${length}`).toEqual(whole);
        }
      });
    }
  });
}
