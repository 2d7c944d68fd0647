import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { startAnthropicServer } from '../../fakes/anthropic-server.ts';
import { startGeminiServer } from '../../fakes/gemini-server.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import { startResponsesServer } from '../../fakes/responses-server.ts';
import { type Home, makeHome } from '../config/home.ts';
import { odek, type Spoken } from './terminal.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const models = (args: string[] = [], env: Record<string, string> = {}): Promise<Spoken> =>
  odek(['models', ...args], { env: { ODEK_HOME: home.state, ...env }, cwd: home.cwd });

/** A provider `mine` in the operator's configuration, with nothing said about a model. */
async function configure(format: string, base_url: string, more: object = {}): Promise<void> {
  await home.global({ provider: 'mine', providers: { mine: { format, base_url, api_key: 'k' } }, ...more });
}

describe('odek models', () => {
  it.each([
    ['openai', async () => startOpenAiServer([], { models: [{ id: 'new-model', max_model_len: 4_096 }] })],
    ['openai-responses', async () => startResponsesServer([], [{ id: 'new-model', context_window: 4_096 }])],
    ['anthropic', async () => startAnthropicServer([], [{ id: 'new-model', max_input_tokens: 4_096 }])],
    ['gemini', async () => startGeminiServer([], [{ name: 'models/new-model', inputTokenLimit: 4_096 }])],
  ] as const)('lists what a service of the format %s offers', async (format, start) => {
    const server = await start();
    try {
      await configure(format, server.url);
      const { code, out } = await models(['--json']);
      expect(code).toBe(0);
      const max_output_tokens = null;
      expect(JSON.parse(out)).toEqual({
        provider: 'mine',
        models: [{ id: 'new-model', context_window: 4_096, source: 'discovery', max_output_tokens }],
      });
    } finally {
      await server.close();
    }
  });

  it('tells where each window was found: by the table before the service, and not at all', async () => {
    const listed = [
      { id: 'gpt-4o', context_length: 1 },
      { id: 'tiny', context_length: 2_048 },
      { id: 'riddle', name: 'A riddle' },
    ];
    const server = await startOpenAiServer([], { models: listed });
    try {
      await configure('openai', server.url);
      const { out } = await models();
      const lines = out
        .trimEnd()
        .split('\n')
        .map((line) => line.split(/ {2,}/));
      expect(lines).toEqual([
        ['Model', 'Context window', 'Found in', 'Longest answer', 'Name'],
        ['gpt-4o', '128,000', 'table', '-'],
        ['tiny', '2,048', 'discovery', '-'],
        ['riddle', '-', 'unknown', '-', 'A riddle'],
      ]);
      await configure('openai', server.url, { llm: { context_window: 777 } });
      expect(JSON.parse((await models(['--json'])).out).models.map((model: { source: string }) => model.source)).toEqual(
        Array(3).fill('config'),
      );
    } finally {
      await server.close();
    }
  });

  it('asks the provider that a flag names, and shows no escape sequence of a service', async () => {
    const server = await startOpenAiServer([], { models: [{ id: 'evil\u001b[31m' }] });
    try {
      const { code, out } = await models(['--base-url', server.url]);
      expect(code).toBe(0);
      expect(out).toContain('evil');
      expect(out).not.toContain('\u001b');
    } finally {
      await server.close();
    }
  });

  it('says that there are none', async () => {
    const server = await startOpenAiServer([]);
    try {
      await configure('openai', server.url);
      expect((await models()).out).toBe('mine lists no models.\n');
    } finally {
      await server.close();
    }
  });

  it('exits 1 where the service refuses, and 3 where nothing is configured or the package is missing', async () => {
    const server = await startAnthropicServer([]);
    try {
      await configure('openai', `${server.url}/nowhere`);
      expect((await models()).code).toBe(1);
    } finally {
      await server.close();
    }
    await home.global({});
    expect((await models()).code).toBe(3);
    await home.global({ provider: 'local', providers: { local: { options: { model_path: import.meta.filename } } } });
    const { code, err } = await models();
    expect(code).toBe(3);
    expect(err).toContain('npm install node-llama-cpp');
  });
});
