import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { createHttpClient } from '../../../adapters/http/index.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';
import { openaiOver, REQUEST, respond } from './wire.ts';

const program = fileURLToPath(new URL('../../fakes/openai-server.ts', import.meta.url));

it.each([
  ['json', JSON.stringify([{ text: 'reply {{n}}', times: 2 }])],
  ['ts', "export default (request: { number: number }) => ({ text: 'reply ' + request.number });"],
])('the fake server runs as a program with a script in %s and ends with its parent', async (kind, script) => {
  const folder = await mkdtemp(join(tmpdir(), 'odek-server-'));
  const file = join(folder, `script.${kind}`);
  await writeFile(file, script);
  const child = spawn(process.execPath, [program, '--script', file], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const [chunk] = (await once(child.stdout, 'data')) as [Buffer];
    const host = `127.0.0.1:${chunk.toString().trim()}`;
    const http = createHttpClient({ mode: 'operator', allowHosts: [host] });
    const provider = openaiOver(http, { base_url: `http://${host}/v1` });
    for (const number of [1, 2]) expect((await respond(provider)).message.content).toBe(`reply ${number}`);
    await http.close();
    child.stdin.end();
    await once(child, 'exit');
  } finally {
    child.kill('SIGKILL');
    await rm(folder, { recursive: true });
  }
});

it('the fake server keeps requests and answers by a function of them', async () => {
  const server = await startOpenAiServer(({ body }) => ({ text: body.messages.at(-1).content.toUpperCase() }));
  const http = createHttpClient({ mode: 'operator', allowHosts: [`127.0.0.1:${server.port}`] });
  expect((await respond(openaiOver(http, { base_url: server.url }), REQUEST)).message.content).toBe('HI');
  expect(server.requests.map(({ number, path, body }) => [number, path, body.model])).toEqual([[1, '/v1/chat/completions', 'm']]);
  await http.close();
  await server.close();
});
