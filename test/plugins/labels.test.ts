import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDiskFileSystem } from '../../adapters/fs/disk.ts';
import { createToolRegistry, type ToolRegistry } from '../../core/plugins/registry.ts';
import { loadPlugins } from '../../plugins/index.ts';
import type { HttpClient } from '../../ports/http.ts';
import type { JobControl, JobView } from '../../ports/job.ts';
import type { Services, ToolResult } from '../../ports/plugin.ts';
import { client, serve } from './web/fixture.ts';

const JOB: JobView = { id: 'j1', command: 'sleep 1', status: 'running', runtimeMs: 1, outputBytes: 0 };

const jobs: JobControl = {
  start: async () => JOB,
  list: () => [JOB],
  status: () => JOB,
  output: () => ({ text: 'out', next: 3, dropped: 0, status: 'running' }),
  stop: async () => JOB,
};

let folder = '';
let page = '';
let registry: ToolRegistry;

/** What each tool is called with, and the label that its result must bear. `{}` stands for the folder, `{page}` for an address. */
const LABELS: Readonly<Record<string, readonly (readonly [input: object, label: string | RegExp])[]>> = {
  artifact_read: [[{ id: 'a1' }, 'artifact:a1']],
  base64: [
    [{ path: 'a.txt' }, 'base64:a.txt'],
    [{ content: 'hello' }, 'base64:inline'],
  ],
  bg_list: [[{}, 'bg']],
  bg_output: [[{ job_id: 'j1' }, 'bg_output']],
  bg_start: [[{ command: 'sleep 1' }, 'bg']],
  bg_status: [[{ job_id: 'j1' }, 'bg']],
  bg_stop: [[{ job_id: 'j1' }, 'bg']],
  browser: [
    [{ action: 'navigate', url: '{page}/start' }, '{page}/final'],
    [{ action: 'snapshot' }, '{page}/final'],
  ],
  checksum: [[{ path: 'a.txt' }, 'checksum:a.txt']],
  clarify: [[{ question: 'Which?' }, 'clarify']],
  config_view: [[{}, 'config_view']],
  diff: [
    [{ path_a: 'a.txt', path_b: 'b.txt' }, 'diff:a.txt..b.txt'],
    [{ path: 'a.txt', content: 'x' }, 'diff:a.txt'],
  ],
  file_info: [[{ path: 'a.txt' }, 'file_info:a.txt']],
  glob: [[{ pattern: '*.txt' }, 'glob:.']],
  head_tail: [[{ path: 'a.txt' }, 'head_tail:a.txt']],
  http_request: [[{ url: '{page}/final' }, '{page}/final']],
  json_query: [[{ path: 'c.json', query: 'a' }, 'json_query:c.json']],
  list_tools: [[{}, 'list_tools']],
  math_eval: [[{ expression: '1+1' }, 'math_eval']],
  patch: [[{ path: 'b.txt', old_string: 'beta', new_string: 'gamma' }, 'patch:b.txt']],
  plan: [[{ verb: 'get' }, 'plan']],
  read_file: [[{ path: 'sub/d.txt' }, '{}/sub/d.txt']],
  search_files: [
    [{ pattern: 'needle' }, 'sub/d.txt:2'],
    [{ pattern: 'alpha' }, /^[ae]\.txt:1 and 1 more$/],
    [{ pattern: 'd.txt', target: 'files' }, 'search_files:.'],
    [{ pattern: 'nowhere' }, 'search_files:.'],
  ],
  session_search: [[{ action: 'list' }, 'session_search']],
  shell: [[{ command: 'echo hi' }, '$ echo hi']],
  skill_list: [[{}, 'skill']],
  skill_load: [[{ name: 's' }, 'skill']],
  tree: [[{ path: 'sub' }, 'tree:sub']],
  web_search: [[{ query: 'two words' }, 'web_search:two words']],
  write_file: [[{ path: 'new.txt', content: 'x' }, 'write_file']],
};

function servicesWith(http: HttpClient): Omit<Services, 'tools'> {
  const nothing = async (): Promise<readonly never[]> => [];
  return {
    logger: { log: () => {} },
    fs: createDiskFileSystem({ root: folder, stateDir: join(folder, '.state') }),
    process: {
      run: async () => ({
        exitCode: 0,
        stdout: 'hi',
        stderr: '',
        stdoutTruncated: false,
        stderrTruncated: false,
        timedOut: false,
        durationMs: 1,
      }),
    } as unknown as Services['process'],
    http,
    plan: { execute: async () => ({ content: 'no plan', failed: false }) },
    jobs,
    sessions: { list: nothing, find: nothing, search: nothing, messages: async () => undefined },
    config: { view: () => ({}) },
    catalogue: { describe: () => ({ tools: [], filter: { disabled: [] }, servers: [] }) },
    artifacts: {
      read: async () => ({ mediaType: 'text/plain', sizeBytes: 1, offset: 0, text: 'x' }),
    } as unknown as Services['artifacts'],
    clarifier: { ask: async () => ({ kind: 'answered', text: 'this' }) },
    skillCatalogue: {
      list: async () => ({ skills: [], omitted: 0 }),
      load: async (name) => ({ name, body: 'text' }),
    },
    searchEngine: { baseUrl: page, categories: '', language: '', maxResults: 5, timeoutMs: 5000, http },
  };
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'odek-labels-'));
  mkdirSync(join(folder, 'sub'));
  const files = { 'a.txt': 'alpha\n', 'b.txt': 'beta\n', 'e.txt': 'alpha\n', 'c.json': '{"a":1}', 'sub/d.txt': 'x\nneedle\n' };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function open(): Promise<void> {
  const { host } = await serve((request, response) => {
    const path = request.url ?? '';
    if (path === '/start') response.writeHead(302, { location: '/final' }).end();
    else if (path.startsWith('/search')) response.writeHead(200, { 'content-type': 'application/json' }).end('{"results":[]}');
    else response.writeHead(200, { 'content-type': 'text/html' }).end('<title>t</title><p>text</p>');
  });
  page = `http://${host}`;
  const http = client({ mode: 'guarded', allowHosts: [host] });
  registry = createToolRegistry();
  const services = servicesWith(http);
  for (const plugin of await loadPlugins())
    await plugin.apply({ ...services, tools: registry.registrar(plugin.name) } as never, {} as never);
}

describe('the source label of a result', () => {
  it('is what the table says, for every tool', async () => {
    await open();
    const wrong: string[] = [];
    for (const { spec } of registry.list()) {
      for (const [input, expected] of LABELS[spec.name] ?? []) {
        const filled = JSON.parse(JSON.stringify(input).replaceAll('{page}', page)) as object;
        const exec = { signal: new AbortController().signal, callId: 'c', args: filled, workspace: folder, dataDir: folder, runId: 'r' };
        const result = (await spec.execute(filled as never, exec)) as ToolResult | string;
        const { content, source, failed } = typeof result === 'string' ? { content: result, source: undefined, failed: false } : result;
        const label = source ?? spec.name;
        const wanted = typeof expected === 'string' ? expected.replace('{page}', page).replace('{}', folder) : expected;
        const isRight = typeof wanted === 'string' ? label === wanted : wanted.test(label);
        if (!isRight || failed) wrong.push(`${spec.name} ${JSON.stringify(input)}: ${label}, wanted ${wanted} (${content.slice(0, 200)})`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it('is in the table for every tool that odek has', async () => {
    await open();
    expect(registry.list().flatMap(({ spec }) => (LABELS[spec.name] === undefined ? [spec.name] : []))).toEqual([]);
  });
});
