import { describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../fakes/anthropic-server.ts';
import { startGeminiServer } from '../../fakes/gemini-server.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import type { FormatReply, FormatServer } from '../../fakes/reply-server.ts';
import { startResponsesServer } from '../../fakes/responses-server.ts';
import { odek } from '../support/odek.ts';
import { createPlace, type Place } from '../support/place.ts';
import { PATIENT } from '../support/stage.ts';

const THOUGHT = 'I had better look.';

const SCRIPT: readonly FormatReply[] = [
  {
    reasoning: [THOUGHT],
    text: ['Let me look.'],
    calls: [
      { name: 'read_file', arguments: '{"path":"a.txt"}' },
      { name: 'read_file', arguments: '{"path":"b.txt"}' },
    ],
  },
  { text: ['Both say ', 'hello.'] },
  { text: ['Still hello.'] },
];

const FORMATS = {
  anthropic: startAnthropicServer,
  gemini: startGeminiServer,
  openai: async (script: readonly FormatReply[]): Promise<FormatServer> => {
    const { url, requests, close } = await startOpenAiServer(script.map(({ usage, ...reply }) => ({ ...reply, ...(usage && { usage }) })));
    return { url, requests, connections: 0, close };
  },
  'openai-responses': startResponsesServer,
} as const;

type Format = keyof typeof FORMATS;
const NAMES = Object.keys(FORMATS) as Format[];

type Servers = Readonly<Record<Format, FormatServer>>;

/** A place with one provider for each format, each with a server of its own, and two files to read. */
async function withProviders(work: (place: Place, servers: Servers) => Promise<void>, script = SCRIPT): Promise<void> {
  const place = await createPlace();
  const started = await Promise.all(NAMES.map(async (name) => [name, await FORMATS[name](script)] as const));
  const servers = Object.fromEntries(started) as Servers;
  try {
    const providers = Object.fromEntries(started.map(([format, { url }]) => [`my-${format}`, { format, base_url: url, api_key: 'k' }]));
    await place.configure({ model: 'some-model', thinking: 'low', providers });
    for (const name of ['a.txt', 'b.txt']) await place.file(name, 'hello\n');
    await work(place, servers);
  } finally {
    for (const server of Object.values(servers)) await server.close();
    await place.remove();
  }
}

describe.concurrent('odek run --provider', PATIENT, () => {
  it.each(NAMES)('thinks, calls tools and answers over the format %s', (format) =>
    withProviders(async (place, servers) => {
      const { code, stdout, stderr } = await odek(place, ['run', '--provider', `my-${format}`, 'what do they say?']);
      expect(stderr).toContain('read_file a.txt');
      expect(stdout).toBe('Both say hello.\n');
      expect(code).toBe(0);
      const [first, second] = servers[format].requests;
      expect(JSON.stringify(first?.body)).toContain('read_file');
      expect(JSON.stringify(second?.body)).toContain('hello');
      expect(servers[format].requests.length).toBe(2);
    }),
  );

  it.each(NAMES)('goes on with another provider where %s left off, and takes none of its thoughts along', (format) =>
    withProviders(
      async (place, servers) => {
        const first = await odek(place, ['run', '--session', '--provider', `my-${format}`, 'what do they say?']);
        expect(first.code).toBe(0);
        for (const other of NAMES.filter((name) => name !== format)) {
          const before = servers[other].requests.length;
          const { code, stderr } = await odek(place, ['continue', '--provider', `my-${other}`, 'and now?']);
          expect([code, stderr]).toEqual([0, expect.any(String)]);
          const body = JSON.stringify(servers[other].requests[before]?.body);
          expect(body).toContain('what do they say?');
          expect(body).toContain('Let me look.');
          expect(body).not.toContain(THOUGHT);
          expect(body).not.toContain('c2ln');
          expect(body).not.toContain('ZW5j');
        }
      },
      [...SCRIPT, ...SCRIPT.slice(1)],
    ),
  );

  it('gives thoughts back to the provider that had them, also in a later run, and not to its twin', () =>
    withProviders(
      async (place, servers) => {
        const [{ url }, api_key] = [servers.anthropic, 'k'];
        const entry = { format: 'anthropic', base_url: url, api_key };
        await place.configure({ model: 'some-model', thinking: 'low', providers: { one: entry, twin: entry } });
        await odek(place, ['run', '--session', '--provider', 'one', 'what do they say?']);
        const bodyOf = async (provider: string): Promise<string> => {
          await odek(place, ['continue', '--provider', provider, 'and now?']);
          return JSON.stringify(servers.anthropic.requests.at(-1)?.body.messages);
        };
        expect(await bodyOf('twin')).not.toContain(THOUGHT);
        const back = await bodyOf('one');
        expect(back).toContain(THOUGHT);
        expect(back).toContain('c2ln');
      },
      [...SCRIPT, ...SCRIPT.slice(2)],
    ));

  it('shows what the cache gave and took, apart from what was not reported', () =>
    withProviders(
      async (place) => {
        const run = async (format: Format): Promise<object> =>
          (JSON.parse((await odek(place, ['run', '--json', '--provider', `my-${format}`, 'hi'])).stdout) as { usage: object }).usage;
        expect(await run('anthropic')).toEqual({ input: 4, output: 7, cache_read: 2_100, cache_write: 320, estimated: false });
        expect(await run('gemini')).toEqual({ input: 20, output: 7, estimated: false });
        expect(await run('openai-responses')).toEqual({ input: 4, output: 7, cache_read: 0, estimated: false });
        const told = async (format: Format): Promise<string> => (await odek(place, ['run', '--provider', `my-${format}`, 'hi'])).stderr;
        expect(await told('anthropic')).toContain('tokens: 4 in · 7 out · 320 stored · 2.1k read');
        expect(await told('gemini')).toMatch(/tokens: 20 in · 7 out$/m);
        expect(await told('openai-responses')).toContain('tokens: 4 in · 7 out · 0 read');
      },
      Array(2).fill({
        text: ['Hi'],
        usage: {
          input_tokens: 4,
          output_tokens: 7,
          cache_creation_input_tokens: 320,
          cache_read_input_tokens: 2_100,
          input_tokens_details: { cached_tokens: 0 },
          promptTokenCount: 20,
          candidatesTokenCount: 7,
        },
      }) as FormatReply[],
    ));

  it('takes caching and the budget of thinking from flags, variables and the configuration', () =>
    withProviders(
      async (place, servers) => {
        const bodyOf = async (args: readonly string[], env: Record<string, string> = {}): Promise<string> => {
          await odek(place, ['run', '--provider', 'my-anthropic', ...args, 'hi'], { env });
          return JSON.stringify(servers.anthropic.requests.at(-1)?.body);
        };
        expect(await bodyOf([])).toMatch(/cache_control.*"budget_tokens":5000/);
        const narrowed = await bodyOf(['--no-prompt-caching', '--thinking-budget', '2048']);
        expect(narrowed).not.toContain('cache_control');
        expect(narrowed).toContain('"budget_tokens":2048');
        expect(await bodyOf([], { ODEK_PROMPT_CACHING: 'false' })).not.toContain('cache_control');
      },
      Array(3).fill({ text: ['Hi'] }) as FormatReply[],
    ));

  it('speaks to an endpoint of the OpenAI format as its entry says', PATIENT, async () => {
    const place = await createPlace();
    const cut = 'data: {"choices":[{"delta":{"content":"Hi"}}]}\n\ndata: [DONE]\n\n';
    const server = await startOpenAiServer(() => ({ raw: cut }));
    try {
      const entry = { format: 'openai', base_url: server.url, dialect: 'kimi', done_without_finish: true, reasoning_replay: 'never' };
      await place.configure({ provider: 'mine', model: 'm', thinking: 'high', providers: { mine: entry } });
      const { code, stdout } = await odek(place, ['run', 'hi']);
      expect([code, stdout]).toEqual([0, 'Hi\n']);
      expect(server.requests[0]?.body.thinking).toEqual({ type: 'enabled' });
    } finally {
      await server.close();
      await place.remove();
    }
  });

  it('tries an overloaded service again, as often as any other', () =>
    withProviders(
      async (place, servers) => {
        const { code, stdout } = await odek(place, ['run', '--provider', 'my-anthropic', 'hi']);
        expect([code, stdout]).toEqual([0, 'Hi\n']);
        expect(servers.anthropic.requests.length).toBe(2);
      },
      [{ status: 529, error: { type: 'overloaded_error', message: 'Overloaded' }, headers: { 'retry-after': '0' } }, { text: ['Hi'] }],
    ));
});
