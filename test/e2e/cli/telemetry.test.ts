import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { plain, startOtlpReceiver } from '../../fakes/otlp-receiver.ts';
import { onStage, PATIENT } from '../support/stage.ts';

const READ = { calls: [{ name: 'read_file', arguments: { path: 'notes.txt' } }] };
const HOOK = new URL('../support/loaded-modules.mjs', import.meta.url).href;
const sinks = (endpoint: string): { readonly config: object } => ({ config: { sinks: { otel: { endpoint } } } });

/** The modules of a run, as paths below the repository. */
async function loadedBy(config: object): Promise<string[]> {
  let modules: string[] = [];
  await onStage(
    [{ text: 'done' }],
    async ({ run, work }) => {
      const list = join(work, 'loaded.txt');
      const { code } = await run(['run', 'say'], { env: { NODE_OPTIONS: `--import=${HOOK}`, LOADED_MODULES: list }, source: true });
      expect(code).toBe(0);
      modules = (await readFile(list, 'utf8')).trim().split('\n');
    },
    { config },
  );
  return modules;
}

describe.concurrent('telemetry of odek run', PATIENT, () => {
  it('tells a receiver of the agent, its model calls and its tool calls', async () => {
    const receiver = await startOtlpReceiver();
    await onStage(
      [READ, { text: 'read it' }],
      async ({ run, file }) => {
        await file('notes.txt', 'private notes');
        const { code, stdout } = await run(['run', 'read the notes']);
        expect([code, stdout]).toEqual([0, 'read it\n']);
      },
      sinks(receiver.endpoint),
    );
    await receiver.close();
    expect(receiver.spans().map(({ name }) => name)).toEqual([
      'execute_tool read_file',
      'chat scripted',
      'chat scripted',
      'invoke_agent odek',
    ]);
    const root = receiver.spans().at(-1);
    expect(plain(root?.attributes ?? [])).toMatchObject({ 'gen_ai.provider.name': expect.any(String), 'gen_ai.usage.input_tokens': 200 });
    expect(JSON.stringify(receiver.posts.map(({ body }) => body))).not.toMatch(/private notes|read the notes|notes\.txt/);
    expect(plain(receiver.posts[0]?.body.resourceSpans[0].resource.attributes)).toMatchObject({ 'service.version': expect.any(String) });
  });

  it.each([
    ['is down', undefined, /telemetry: 2 spans and \d+ measurements did not reach .*connection refused/],
    ['never answers', () => ({ hang: true }), /telemetry: 2 spans and \d+ measurements did not reach .*not delivered in time/],
  ])('does not harm a run when the receiver %s', async (_name, answer, told) => {
    const receiver = await startOtlpReceiver(answer);
    if (answer === undefined) await receiver.close();
    await onStage(
      [{ text: 'fine' }],
      async ({ run }) => {
        const { code, stdout, stderr } = await run(['run', 'say']);
        expect([code, stdout]).toEqual([0, 'fine\n']);
        expect(stderr).toMatch(told);
      },
      sinks(receiver.endpoint),
    );
    if (answer !== undefined) await receiver.close();
  });

  it('is not chosen by a project, and a wrong endpoint stops a run before the model is asked', () =>
    onStage([{ text: 'fine' }], async ({ run, file, server, configure }) => {
      await file('odek.json', JSON.stringify({ sinks: { otel: { endpoint: 'http://127.0.0.1:1' } } }));
      const ignored = await run(['run', 'say']);
      expect([ignored.code, ignored.stderr.includes('sinks is ignored')]).toEqual([0, true]);
      await configure({
        provider: 'mine',
        model: 'm',
        providers: { mine: { format: 'openai', base_url: server.url } },
        sinks: { otel: {} },
      });
      const wrong = await run(['run', 'say']);
      expect([wrong.code, wrong.stderr.includes('needs "endpoint"')]).toEqual([3, true]);
      expect(server.requests).toHaveLength(1);
    }));

  it('is not loaded unless it is configured', async () => {
    const off = await loadedBy({});
    expect(off.some((url) => url.endsWith('/hosts/sinks.ts'))).toBe(true);
    expect(off.filter((url) => /sinks\/otel|opentelemetry/.test(url))).toEqual([]);
    const on = await loadedBy({ sinks: { otel: { endpoint: 'http://127.0.0.1:1' } } });
    expect(on.some((url) => url.endsWith('/adapters/sinks/otel.ts'))).toBe(true);
  });
});
