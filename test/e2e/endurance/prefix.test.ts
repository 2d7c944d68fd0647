import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgent } from '../../../hosts/embed/agent.ts';
import type { RunEvent } from '../../../ports/event.ts';
import { type OpenAiServer, type ServerRequest, startOpenAiServer } from '../../fakes/openai-server.ts';

const ITERATIONS = 50;
const FILES = 10;

let workspace = '';
let server: OpenAiServer;

const isSideCall = ({ body }: ServerRequest): boolean => body.tools === undefined;

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'odek-prefix-'));
  for (let file = 0; file < FILES; file += 1)
    await writeFile(join(workspace, `page-${file}.txt`), `Page ${file}.\n${'A line of it.\n'.repeat(200)}`);
  let asked = 0;
  server = await startOpenAiServer((request) => {
    if (isSideCall(request)) return { text: `Done:\n- read up to ${asked}` };
    asked += 1;
    return asked === ITERATIONS ? { text: 'done' } : { calls: [{ name: 'read_file', arguments: { path: `page-${asked % FILES}.txt` } }] };
  });
});

afterEach(async () => {
  await server.close();
  await rm(workspace, { recursive: true, force: true });
});

/** The body up to the end of its last message, and what follows. */
function split(text: string): { readonly messages: string; readonly rest: string } {
  const end = text.indexOf('],"tools":');
  if (end === -1) throw new Error('the body has no tools');
  return { messages: text.slice(0, end), rest: text.slice(end) };
}

interface Played {
  readonly bodies: readonly { readonly messages: string; readonly rest: string }[];
  /** Iterations whose request does not begin with the one before. */
  readonly changed: readonly number[];
  readonly trimmed: readonly number[];
}

async function play(config: Readonly<Record<string, unknown>>): Promise<Played> {
  const events: RunEvent[] = [];
  const agent = await createAgent({
    config: { base_url: server.url, model: 'm', api_key: 'sk-test-0123456789abcdef', temperature: -1, ...config },
    workspace,
    builtIns: ['files'],
    onEvent: (event) => events.push(event),
    onWarning: () => {},
  });
  try {
    expect(await agent.run('Read all pages, again and again.')).toMatchObject({
      outcome: 'answer',
      answer: 'done',
      iterations: ITERATIONS,
    });
  } finally {
    await agent.close();
  }
  const bodies = server.requests.filter((request) => !isSideCall(request)).map(({ text }) => split(text));
  const changed = bodies.flatMap(({ messages }, index) =>
    index === 0 || messages.startsWith(bodies[index - 1]?.messages ?? '') ? [] : [index + 1],
  );
  const trimmed = events.flatMap((event) => (event.type === 'context_trimmed' ? [event.iteration ?? 0] : []));
  return { bodies, changed, trimmed };
}

const digestOf = (body: string): string | undefined => /\{"role":"system","content":"\[Compacted earlier context:.*?"\}/.exec(body)?.[0];

describe('the bytes of 50 requests in a row', () => {
  it('begin with those of the request before, every time, when nothing is trimmed', async () => {
    const { bodies, changed, trimmed } = await play({});
    expect(bodies.length).toBe(ITERATIONS);
    expect(trimmed).toEqual([]);
    expect(changed).toEqual([]);
    expect(new Set(bodies.map(({ rest }) => rest)).size).toBe(1);
  });

  it('change their beginning exactly where the context was trimmed, and behind the system prompt only', async () => {
    const { bodies, changed, trimmed } = await play({ llm: { context_window: 16_000 }, compaction: false });
    expect(trimmed.length).toBeGreaterThan(2);
    expect(trimmed.length).toBeLessThan(ITERATIONS / 5);
    expect(changed).toEqual([...new Set(trimmed)]);
    const system = bodies[0]?.messages.slice(0, bodies[0].messages.indexOf('{"role":"user"')) ?? '';
    expect(system.length).toBeGreaterThan(500);
    for (const { messages } of bodies) expect(messages.startsWith(system)).toBe(true);
    expect(new Set(bodies.map(({ rest }) => rest)).size).toBe(1);
  });

  it('change once more for each digest that a model wrote', async () => {
    const { bodies, changed, trimmed } = await play({ llm: { context_window: 12_000 } });
    expect(trimmed.length).toBeGreaterThan(2);
    const swapped = changed.filter((iteration) => !trimmed.includes(iteration));
    for (const iteration of trimmed) expect(changed).toContain(iteration);
    expect(swapped.length).toBeGreaterThan(0);
    expect(swapped.length).toBeLessThanOrEqual(trimmed.length);
    for (const iteration of swapped) {
      const [before, after] = [bodies[iteration - 2]?.messages ?? '', bodies[iteration - 1]?.messages ?? ''];
      expect(digestOf(after)).not.toBe(digestOf(before));
      // Nothing but the digest changed.
      expect(after.replace(digestOf(after) ?? '', digestOf(before) ?? '').startsWith(before)).toBe(true);
    }
  });
});
