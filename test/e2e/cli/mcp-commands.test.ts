import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerReply } from '../../fakes/openai-server.ts';
import {
  APPROVE,
  answer,
  call,
  DONE,
  entry,
  lastResults,
  nothingRuns,
  operator,
  pidsOf,
  project,
  START,
  tool,
  toolsTold,
} from '../support/mcp.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const HOOK = new URL('../support/loaded-modules.mjs', import.meta.url).href;

describe.concurrent('odek as a server', PATIENT, () => {
  it('offers the tools of its own servers, which end with it', () =>
    onStage([], async (stage) => {
      await operator(stage, { small: { ...(await entry(stage)), auto_approve: true } });
      const say = (id: number | undefined, method: string, params: object): string =>
        `${JSON.stringify({ jsonrpc: '2.0', ...(id !== undefined && { id }), method, params })}\n`;
      const input = [
        say(1, 'initialize', { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'test', version: '1' } }),
        say(undefined, 'notifications/initialized', {}),
        say(2, 'tools/list', {}),
        say(3, 'tools/call', { name: 'small__greet', arguments: { a: 1 } }),
      ].join('');
      const { code, stdout } = await stage.run(['mcp'], { input });
      expect(code).toBe(0);
      const replies = new Map(
        stdout
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line))
          .map((reply) => [reply.id, reply.result]),
      );
      expect(replies.get(2).tools.map(({ name }: { name: string }) => name)).toEqual(
        expect.arrayContaining(['small__greet', 'small__count', 'read_file']),
      );
      expect(replies.get(3).content[0].text).toContain('greet says {"a":1}');
      await nothingRuns(stage);
    }));
});

describe.concurrent('a run without servers', PATIENT, () => {
  it('loads nothing that reaches one', () =>
    onStage([DONE], async (stage) => {
      const list = join(stage.work, 'loaded.txt');
      const ended = await stage.run(['run', 'say'], { env: { NODE_OPTIONS: `--import=${HOOK}`, LOADED_MODULES: list }, source: true });
      expect(ended.code).toBe(0);
      const urls = (await readFile(list, 'utf8')).trim().split('\n');
      expect(urls.some((url) => url.endsWith('/hosts/mcp-client/board.ts'))).toBe(true);
      const reaching =
        /modelcontextprotocol|\/adapters\/mcp|\/hosts\/mcp-client\/(?!board|connect\.)|\/hosts\/config\/(apply-servers|mcp-servers)/;
      expect(urls.filter((url) => reaching.test(url))).toEqual([]);
    }));
});

describe.concurrent('odek mcp', PATIENT, () => {
  it('lists servers with what is approved of them, and no secret of their command lines', () =>
    onStage([], async (stage) => {
      const given = (await entry(stage)) as { args: readonly string[] };
      await operator(stage, { mine: { ...given, auto_approve: true, args: [...given.args, '--api-key', 'hunter2222'] } });
      await project(stage, { small: given, remote: { url: 'https://mcp.example.com/rpc?key=hunter2222' } });
      const { stdout, code } = await stage.run(['mcp', 'list']);
      expect(code).toBe(0);
      const lines = stdout.split('\n').map((line) => line.split(/\s{2,}/));
      expect(lines.slice(0, 4).map((line) => line.slice(0, 5))).toEqual([
        ['server', 'from', 'start', 'approved tools', 'asks at'],
        ['mine', 'operator', 'auto_approve', 'all', 'register'],
        ['small', 'project', 'ask', '0', 'register'],
        ['remote', 'project', 'ask', '0', 'register'],
      ]);
      expect(stdout).not.toContain('hunter2222');
      expect(JSON.parse((await stage.run(['mcp', 'list', '--json'])).stdout)).toMatchObject([
        { name: 'mine' },
        { name: 'small' },
        { name: 'remote' },
      ]);
      expect(pidsOf(stage)).toEqual([]);
    }));

  it('approves at a terminal alone, and revokes a tool, a server, and nothing twice', () =>
    onStage([DONE, DONE], async (stage) => {
      await project(stage, { small: await entry(stage) });
      const alone = await stage.run(['mcp', 'approve', 'small'], { env: APPROVE });
      expect(alone).toMatchObject({ code: 3, stderr: expect.stringContaining('needs a terminal') });
      const seen = await stage.terminal(['mcp', 'approve', 'small'], [...answer(START, 'y'), ...answer('Approve all 2?', 'y')]);
      expect(seen.exit).toBe(0);
      expect(seen.raw).toContain('small: 2 of 2 tools approved');
      expect((await stage.run(['run', 'greet'])).code).toBe(0);
      expect(toolsTold(stage.server)).toEqual(['small__count', 'small__greet']);

      expect((await stage.run(['mcp', 'revoke', 'small', 'greet'])).stdout).toContain('taken back: 1');
      await stage.run(['run', 'greet']);
      expect(toolsTold(stage.server)).toEqual(['small__count']);
      expect((await stage.run(['mcp', 'revoke', 'small'])).stdout).toContain('The start of small is no longer approved.');
      expect((await stage.run(['run', 'greet'])).code).toBe(3);
      expect(await stage.run(['mcp', 'revoke', 'small'])).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing of') });
    }));

  it('probes a server: protocol, tools, what a start would refuse and why', () =>
    onStage([], async (stage) => {
      const given = await entry(stage, [
        tool('greet'),
        tool('huge', 'Large.', { text: { type: 'string', description: 'x'.repeat(300_000) } }),
        tool('off'),
      ]);
      await operator(stage, { small: { ...given, env: { API_KEY: 'x' } } }, { tools: { disabled: ['small__off'] } });
      const { stdout, code } = await stage.run(['mcp', 'probe', 'small']);
      expect(code).toBe(1);
      expect(stdout).toMatch(/^server {4}small \(operator\)$/m);
      expect(stdout).toMatch(/^is {8}small 1\.0\.0$/m);
      expect(stdout).toMatch(/^protocol {2}2025-03-26 \(asked for 2025-03-26\)$/m);
      expect(stdout).toMatch(/^time {6}connected in \d+ ms, listed in \d+ ms$/m);
      expect(stdout).toContain('MCP server "small" does not get API_KEY');
      expect(stdout).toMatch(/^ {2}greet {2}not approved$/m);
      expect(stdout).toMatch(/^ {2}huge {3}refused: .*bytes/m);
      expect(stdout).toMatch(/^ {2}off {4}left out by tools\.enabled or tools\.disabled$/m);
      await nothingRuns(stage);
    }));

  it('says of a server that does not start what it was not given', () =>
    onStage([], async (stage) => {
      const args = ['-e', 'if (!process.env.GH_TOKEN) { console.error("no credentials"); process.exit(4); }'];
      await operator(stage, { small: { command: process.execPath, args, env: { GH_TOKEN: 'hunter2222' } } });
      const { stderr, code } = await stage.run(['mcp', 'probe', 'small']);
      expect(code).toBe(1);
      for (const text of ['does not get GH_TOKEN', 'no credentials', '4']) expect(stderr).toContain(text);
      expect(stderr).not.toContain('hunter2222');
    }));

  it('says what ends a start, and names servers that are not there', () =>
    onStage([], async (stage) => {
      await operator(stage, { small: await entry(stage, [tool('bad__name')]) });
      const { stdout, code } = await stage.run(['mcp', 'probe', 'small']);
      expect(code).toBe(1);
      expect(stdout).toContain('it would end a start: MCP server "small": tool name "bad__name" is not allowed');
      expect(await stage.run(['mcp', 'probe', 'smal'])).toMatchObject({ code: 3, stderr: expect.stringContaining('did you mean small?') });
      expect((await stage.run(['mcp', 'revoke'])).code).toBe(3);
      expect((await stage.run(['mcp', 'list', 'x'])).code).toBe(3);
    }));

  it('gives up on corrupt approvals: nothing is approved, and the file is kept', () =>
    onStage([DONE], async (stage) => {
      await operator(stage, { small: await entry(stage) });
      await writeFile(join(stage.state, 'mcp_tool_approvals.json'), '{', { mode: 0o600 });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(0);
      expect(ended.stderr).toContain('is corrupt');
      expect(toolsTold(stage.server)).toEqual([]);
      expect(existsSync(join(stage.state, 'mcp_tool_approvals.json'))).toBe(false);
    }));
});

describe.concurrent('list_tools', PATIENT, () => {
  it('tells of connected servers', () =>
    onStage([call('list_tools'), DONE], async (stage) => {
      const given = (await entry(stage)) as { args: readonly string[] };
      await operator(stage, { small: { ...given, args: [...given.args, '', '--token=hunter2222'], auto_approve: true } });
      await stage.run(['run', 'list']);
      const [told = ''] = lastResults(stage.server);
      expect(told).toContain('small');
      expect(told).toContain('connected');
      expect(told).toContain('small__greet');
      expect(told).not.toContain('hunter2222');
    }));
});

describe.concurrent('a server over HTTP', PATIENT, () => {
  /** Another odek is the server. */
  const withServer = (work: (stage: Stage, url: string) => Promise<void>, script: readonly ServerReply[] = []) =>
    onStage([...script], async (stage) => {
      const place = join(stage.work, '..', 'served');
      await mkdir(place);
      await writeFile(join(place, 'note.txt'), 'what is served');
      const served = stage.start(['mcp', '--http'], { cwd: place, env: { ODEK_MCP_TOKEN: 'a-token-of-this-test' } });
      await served.untilTold(/serving at \S+/);
      const [, url = ''] = /serving at (\S+)/.exec(served.stderr) ?? [];
      await work(stage, url);
    });

  it('is reached on this machine with its token when the operator names it', () =>
    withServer(
      async (stage, url) => {
        await writeFile(join(stage.state, 'secrets.env'), 'MCP_OTHER=a-token-of-this-test\n', { mode: 0o600 });
        await operator(stage, { other: { url, token_env: 'MCP_OTHER', auto_approve: true } });
        const ended = await stage.run(['run', 'read']);
        expect(ended.code).toBe(0);
        expect(lastResults(stage.server)).toEqual([expect.stringContaining('what is served')]);
      },
      [call('other__read_file', { path: 'note.txt' }), DONE],
    ));

  it('is not reached on this machine when a project names it, approved or not', () =>
    withServer(async (stage, url) => {
      await project(stage, { other: { url } });
      const ended = await stage.run(['run', 'read'], { env: APPROVE });
      expect(ended.code).toBe(3);
      expect(ended.stderr).toMatch(/server other could not be reached: .* is not a public address/);
      expect(stage.server.requests).toEqual([]);
    }));
});
