/**
 * What odek is measured against: a hand-written undici loop that does nothing but ask, read the
 * stream, run the tool and append. No journal, no budget, no events, no approval.
 *
 *   node bare-loop.ts <base url> <folder>
 *
 * Prints `{cpu_ms, rss_kb, iterations}` of itself when the model answers without a tool call.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { request } from 'undici';

interface Call {
  id: string;
  name: string;
  arguments: string;
}

interface Delta {
  readonly content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function?: { readonly name?: string; readonly arguments?: string };
  }[];
}

const [base = '', folder = ''] = process.argv.slice(2);

const tools = [
  {
    type: 'function',
    function: {
      name: 'read_file',
      description: 'Read a file.',
      parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
    },
  },
];
const messages: unknown[] = [
  { role: 'system', content: 'You are an agent.' },
  { role: 'user', content: 'Go on until you are done.' },
];

async function ask(): Promise<{ readonly text: string; readonly calls: readonly Call[] }> {
  const { body } = await request(`${base}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: 'Bearer bench' },
    body: JSON.stringify({ model: 'bench', messages, tools, stream: true, stream_options: { include_usage: true } }),
  });
  const decoder = new TextDecoder();
  const calls: Call[] = [];
  let text = '';
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk as Uint8Array, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) {
      if (!line.startsWith('data: ') || line === 'data: [DONE]') continue;
      const delta = (JSON.parse(line.slice(6)) as { readonly choices: readonly { readonly delta: Delta }[] }).choices[0]?.delta;
      text += delta?.content ?? '';
      for (const part of delta?.tool_calls ?? []) {
        calls[part.index] ??= { id: '', name: '', arguments: '' };
        const call = calls[part.index] as Call;
        call.id ||= part.id ?? '';
        call.name ||= part.function?.name ?? '';
        call.arguments += part.function?.arguments ?? '';
      }
    }
  }
  return { text, calls };
}

let iterations = 0;
for (;;) {
  const { text, calls } = await ask();
  iterations += 1;
  messages.push({
    role: 'assistant',
    content: text,
    ...(calls.length > 0 && {
      tool_calls: calls.map((call) => ({ id: call.id, type: 'function', function: { name: call.name, arguments: call.arguments } })),
    }),
  });
  if (calls.length === 0) break;
  const results = await Promise.all(
    calls.map(async (call) => ({
      role: 'tool',
      tool_call_id: call.id,
      content: await readFile(join(folder, (JSON.parse(call.arguments) as { readonly path: string }).path), 'utf8'),
    })),
  );
  messages.push(...results);
}
const { user, system } = process.cpuUsage();
console.log(JSON.stringify({ cpu_ms: (user + system) / 1000, rss_kb: process.resourceUsage().maxRSS, iterations }));
process.exit(0);
