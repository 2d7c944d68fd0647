import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { OpenAiServer, ServerReply } from '../../fakes/openai-server.ts';
import { isAlive, until } from '../support/processes.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const HOOK = new URL('../support/loaded-modules.mjs', import.meta.url).href;
const SERVER = fileURLToPath(new URL('../support/mcp-server.mjs', import.meta.url));

const call = (name: string, input: object = {}): ServerReply => ({ calls: [{ name, arguments: input }] });
const DONE: ServerReply = { text: 'It is done.' };
const APPROVE = { ODEK_APPROVE_MCP: '1' };

const tool = (name: string, description = `The tool ${name}.`, properties: object = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties },
});

/** The two files of a server on this stage: its tools, and the ids of its processes. */
const files = ({ work }: Pick<Stage, 'work'>) => ({ tools: join(work, '..', 'tools.json'), pids: join(work, '..', 'pids') });

/** An entry of `mcp_servers` that starts the small server with these tools. */
async function entry(stage: Pick<Stage, 'work'>, tools: readonly object[] = [tool('greet'), tool('count')]): Promise<object> {
  const { tools: file, pids } = files(stage);
  await writeFile(file, JSON.stringify(tools));
  return { command: process.execPath, args: [SERVER, file, pids] };
}

const project = async (stage: Stage, servers: Record<string, object>): Promise<void> =>
  void (await stage.file('odek.json', JSON.stringify({ mcpServers: servers })));

const pidsOf = (stage: Pick<Stage, 'work'>): readonly number[] => {
  const { pids } = files(stage);
  return existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : [];
};

const nothingRuns = (stage: Pick<Stage, 'work'>): Promise<void> =>
  until('every server process is gone', () => pidsOf(stage).every((pid) => !isAlive(pid)));

const toolsTold = (server: OpenAiServer, request = -1): readonly string[] => {
  const { tools = [] }: { tools?: { function: { name: string } }[] } = server.requests.at(request)?.body ?? {};
  return tools.map((each) => each.function.name).filter((name) => name.includes('__'));
};

const lastResults = (server: OpenAiServer): string[] => {
  const messages: { role: string; content: string }[] = server.requests.at(-1)?.body.messages ?? [];
  return messages.filter((message) => message.role === 'tool').map((message) => message.content);
};

const START = 'Start it? [y/N]';

/** Answers as a person does: waits for the question, then types. */
const answer = (question: string, text: string) => [{ wait: question }, { send: `${text}\r` }] as const;

/** The operator's configuration of this stage with servers in it. */
const operator = async (stage: Stage, mcp_servers: Record<string, object>, more: object = {}): Promise<void> => {
  const config = JSON.parse(await readFile(join(stage.state, 'config.json'), 'utf8'));
  await stage.configure({ ...config, mcp_servers, ...more });
};

describe.concurrent('a server of a project', PATIENT, () => {
  it('is not started without approval where nobody can be asked', () =>
    onStage([DONE], async (stage) => {
      await project(stage, { small: await entry(stage) });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain('"small" is not approved, and nothing was started');
      expect(ended.stderr).toContain('odek mcp approve small');
      expect(pidsOf(stage)).toEqual([]);
      expect(stage.server.requests).toEqual([]);
    }));

  it("keeps the operator's servers from being started while it is not approved", () =>
    onStage([DONE], async (stage) => {
      await operator(stage, { mine: { ...(await entry(stage)), auto_approve: true } });
      await project(stage, { small: await entry(stage) });
      expect((await stage.run(['run', 'greet'])).code).toBe(3);
      expect(pidsOf(stage)).toEqual([]);
    }));

  it('is started for this once with ODEK_APPROVE_MCP=1, its tool is called, and nothing of it is left', () =>
    onStage([call('small__greet', { whom: 'you' }), DONE], async (stage) => {
      await project(stage, { small: await entry(stage) });
      const ended = await stage.run(['run', 'greet'], { env: APPROVE });
      expect(ended).toMatchObject({ code: 0, stdout: 'It is done.\n' });
      expect(toolsTold(stage.server)).toEqual(['small__count', 'small__greet']);
      expect(lastResults(stage.server)).toEqual([expect.stringContaining('greet says {"whom":"you"}')]);
      expect(ended.stderr).toContain('[small] the small server is up');
      await nothingRuns(stage);
      expect(existsSync(join(stage.state, 'mcp_approvals.json'))).toBe(false);
      expect(existsSync(join(stage.state, 'mcp_tool_approvals.json'))).toBe(false);
    }));

  it('is asked about at the terminal, with everything that is started and every tool, and remembered', () =>
    onStage([DONE, DONE], async (stage) => {
      const given = { ...(await entry(stage)), env: { LEVEL: 'debug' } };
      await project(stage, { small: given });
      const seen = await stage.terminal(
        ['run', 'greet'],
        [...answer(START, 'y'), ...answer('Approve all 2? [y/N, or numbers such as 1,3-5]', '2')],
      );
      expect(seen.exit).toBe(0);
      for (const text of [process.execPath, SERVER, '"LEVEL" = "debug"', '1. greet', '2. count', 'schema: sha256:']) {
        expect(seen.raw.replaceAll('\r\n', '')).toContain(text);
      }
      expect(toolsTold(stage.server)).toEqual(['small__count']);
      for (const name of ['mcp_approvals.json', 'mcp_tool_approvals.json']) {
        expect((await stat(join(stage.state, name))).mode & 0o777).toBe(0o600);
      }
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(0);
      expect(toolsTold(stage.server)).toEqual(['small__count']);
      expect(ended.stderr).toContain('not approved, and left out: greet');
      await nothingRuns(stage);
    }));

  it('ends the start when a person says no, before anything runs', () =>
    onStage([DONE], async (stage) => {
      await project(stage, { small: await entry(stage) });
      const seen = await stage.terminal(['run', 'greet'], answer(START, 'n'));
      expect(seen.exit).toBe(3);
      expect(seen.raw).toContain('is not approved');
      expect(pidsOf(stage)).toEqual([]);
    }));

  it.each([
    ['argument', { args: [SERVER, 'TOOLS', 'PIDS', 'other'] }],
    ['variable', { env: { LEVEL: 'debug' } }],
    ['limit', { timeout_seconds: 60 }],
  ])('has to be approved again with another %s', (_, change) =>
    onStage([DONE], async (stage) => {
      const given = await entry(stage);
      await project(stage, { small: given });
      await stage.terminal(['mcp', 'approve'], [...answer(START, 'y'), ...answer('Approve all 2?', 'y')]);
      expect((await stage.run(['run', 'greet'])).code).toBe(0);
      await project(stage, { small: { ...given, ...change } });
      expect((await stage.run(['run', 'greet'])).code).toBe(3);
    }),
  );

  it('does not inherit auto_approve from a server of the operator whose name it takes', () =>
    onStage([DONE], async (stage) => {
      const given = await entry(stage);
      await operator(stage, { small: { ...given, auto_approve: true } });
      await project(stage, { small: { ...given, env: { LEVEL: 'debug' } } });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain("mcp_servers.small replaces the operator's server");
    }));

  it('cannot bring its own auto_approve', () =>
    onStage([DONE], async (stage) => {
      await project(stage, { small: { ...(await entry(stage)), auto_approve: true } });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain('mcp_servers.small.auto_approve is ignored');
    }));
});

describe.concurrent('a server of the operator', PATIENT, () => {
  it('starts unasked, while each of its tools waits for an approval', () =>
    onStage([DONE, DONE], async (stage) => {
      await operator(stage, { small: await entry(stage) });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(0);
      expect(toolsTold(stage.server)).toEqual([]);
      expect(ended.stderr).toContain('MCP server "small": not approved, and left out: greet, count; run odek mcp approve small');
      const seen = await stage.terminal(['run', 'greet'], answer('Approve all 2?', 'y'));
      expect(seen.exit).toBe(0);
      expect(toolsTold(stage.server)).toEqual(['small__count', 'small__greet']);
    }));

  it('with auto_approve needs nobody', () =>
    onStage([call('small__greet'), DONE], async (stage) => {
      await operator(stage, { small: { ...(await entry(stage)), auto_approve: true } });
      expect((await stage.run(['run', 'greet'])).code).toBe(0);
      expect(lastResults(stage.server)).toEqual([expect.stringContaining('greet says {}')]);
    }));

  it('is asked about at every call where the operator says so', () =>
    onStage([call('small__greet'), DONE], async (stage) => {
      await operator(stage, { small: { ...(await entry(stage)), auto_approve: true, approve: 'call' } });
      expect((await stage.run(['run', 'greet'])).code).toBe(0);
      expect(lastResults(stage.server)).toEqual([expect.stringContaining('operation denied')]);
    }));

  it('shows what changed when a tool is described in another way, and leaves it out until it is approved', () =>
    onStage([DONE, DONE, DONE], async (stage) => {
      const given = await entry(stage, [tool('greet', 'Says hello to a friend.')]);
      await operator(stage, { small: given });
      await stage.terminal(['run', 'greet'], answer('Approve it? [y/N]', 'y'));
      await entry(stage, [tool('greet', 'Says hello to an enemy.')]);
      const ended = await stage.run(['run', 'greet']);
      expect(ended.stderr).toContain('left out: greet');
      expect(toolsTold(stage.server)).toEqual([]);
      const seen = await stage.terminal(['run', 'greet'], answer('Approve it? [y/N]', 'y'));
      expect(seen.raw).toContain('changed since it was approved on');
      expect(seen.raw).toMatch(/- .*friend/);
      expect(seen.raw).toMatch(/\+ .*enemy/);
      expect(toolsTold(stage.server)).toEqual(['small__greet']);
    }));

  it('keeps out what tools.disabled names, and nobody is asked about that', () =>
    onStage([DONE], async (stage) => {
      await operator(stage, { small: await entry(stage) }, { tools: { disabled: ['small__greet'] } });
      const seen = await stage.terminal(['run', 'greet'], answer('Approve it? [y/N]', 'y'));
      expect(seen.raw).not.toContain('greet\r');
      expect(toolsTold(stage.server)).toEqual(['small__count']);
    }));

  it('gets no variable whose name says secret, which is told at the start', () =>
    onStage([call('small__environment'), DONE], async (stage) => {
      const given = await entry(stage, [tool('environment')]);
      const env = { GITHUB_TOKEN: 'hunter2222', LEVEL: 'debug', LANG: '' };
      await operator(stage, { small: { ...given, env, auto_approve: true } });
      const ended = await stage.run(['run', 'look'], { env: { MY_SECRET: 'x', OTHER: 'y' } });
      expect(ended.stderr).toContain('MCP server "small" does not get GITHUB_TOKEN');
      expect(ended.stderr).not.toContain('hunter2222');
      const [names = ''] = lastResults(stage.server);
      expect(names).toContain('LEVEL');
      expect(names).toContain('PATH');
      for (const name of ['GITHUB_TOKEN', 'MY_SECRET', 'OTHER']) expect(names).not.toContain(name);
    }));

  it('that does not start ends everything with exit code 3, and leaves no process', () =>
    onStage([DONE], async (stage) => {
      await operator(stage, {
        small: { ...(await entry(stage)), auto_approve: true },
        broken: { command: process.execPath, args: ['-e', 'console.error("no luck today"); process.exit(9)'], auto_approve: true },
      });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain('broken');
      expect(ended.stderr).toContain('no luck today');
      expect(ended.stderr).toContain('odek mcp probe broken');
      expect(stage.server.requests).toEqual([]);
      await nothingRuns(stage);
    }));

  it.each([
    ['is not there', { command: '/nowhere/to/be/found' }, 'found'],
    ['has a tool with a bad name', [tool('a__b')], 'a__b'],
    ['has a tool with a name of 70 characters', [tool('x'.repeat(70))], 'is not allowed'],
  ])('ends the start when it %s', (_, what, said) =>
    onStage([DONE], async (stage) => {
      const given = Array.isArray(what) ? await entry(stage, what) : what;
      await operator(stage, { small: { ...given, auto_approve: true } });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain(said);
      await nothingRuns(stage);
    }),
  );

  it.each([['run', 'greet'], ['mcp']])('is told of when it keeps odek %s waiting, and Ctrl-C then leaves nothing behind', (...command) =>
    onStage([DONE], async (stage) => {
      const { args = [], ...given } = (await entry(stage)) as { command: string; args?: readonly string[] };
      await operator(stage, { slow: { ...given, args: [...args, 'silent'], auto_approve: true } });
      const running = stage.start(command);
      await running.untilTold('waiting for MCP servers: slow');
      running.child.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
      expect(pidsOf(stage)).toHaveLength(1);
      await nothingRuns(stage);
    }),
  );

  it('that dies while it is called fails that call alone', () =>
    onStage([call('small__die'), call('small__greet'), DONE], async (stage) => {
      await operator(stage, { small: { ...(await entry(stage, [tool('die'), tool('greet')])), auto_approve: true } });
      expect((await stage.run(['run', 'try'])).code).toBe(0);
      const [died, greeted] = lastResults(stage.server);
      expect(died).toContain('7');
      expect(greeted).toContain('greet says {}');
      await nothingRuns(stage);
    }));
});

describe.concurrent('tools that change in the middle of a run', PATIENT, () => {
  const become = (tools: readonly object[]): ServerReply => call('small__become', { tools });
  const fixed = [tool('become', 'Changes the tools.', { tools: { type: 'array' } }), tool('pause')];

  it('are there at the next request where nothing has to be approved', () =>
    onStage(
      [become([...fixed, tool('fresh')]), call('small__pause'), call('small__fresh', { a: 1 }), call('small__old'), DONE],
      async (stage) => {
        const given = await entry(stage, [...fixed, tool('old')]);
        await operator(stage, { small: { ...given, auto_approve: true } });
        const ended = await stage.run(['run', 'change']);
        expect(ended.code).toBe(0);
        expect(toolsTold(stage.server, 0)).toEqual(['small__become', 'small__old', 'small__pause']);
        expect(toolsTold(stage.server)).toEqual(['small__become', 'small__fresh', 'small__pause']);
        const [, , fresh, old] = lastResults(stage.server);
        expect(fresh).toContain('fresh says {"a":1}');
        expect(old).toContain('small__old');
        expect(ended.stderr).toContain('no longer offers its tool old');
      },
    ));

  it('are withdrawn where they would have to be approved and nobody can be asked', () =>
    onStage(
      [become([...fixed, tool('old', 'Now it means something else.')]), call('small__pause'), call('small__old'), DONE],
      async (stage) => {
        await operator(stage, { small: await entry(stage, [...fixed, tool('old')]) });
        await stage.terminal(['mcp', 'approve', 'small'], answer('Approve all 3?', 'y'));
        const ended = await stage.run(['run', 'change']);
        expect(ended.code).toBe(0);
        expect(ended.stderr).toContain('describes in another way its tool old');
        expect(ended.stderr).toContain('not approved, and left out: old');
        expect(toolsTold(stage.server)).toEqual(['small__become', 'small__pause']);
        const [, , old = ''] = lastResults(stage.server);
        expect(old).toMatch(/^error|error:/);
        expect(old).not.toContain('old says');
      },
    ));
});

describe.concurrent('a person in the middle of a run', PATIENT, () => {
  it('is asked about a tool that came, and the run goes on with it', () => {
    const come = [tool('become', 'Changes the tools.', { tools: { type: 'array' } }), tool('pause'), tool('fresh', 'It is new here.')];
    const script = [call('small__become', { tools: come }), call('small__pause'), call('small__pause'), call('small__fresh'), DONE];
    return onStage(script, async (stage) => {
      await operator(stage, { small: await entry(stage, come.slice(0, 2)) });
      const seen = await stage.terminal(
        ['run', 'change'],
        [...answer('Approve all 2?', 'y'), { wait: 'It is new here.' }, ...answer('Approve it? [y/N]', 'y')],
      );
      expect(seen.exit).toBe(0);
      expect(toolsTold(stage.server)).toEqual(['small__become', 'small__fresh', 'small__pause']);
      expect(lastResults(stage.server).at(-1)).toContain('fresh says');
    });
  });
});

describe.concurrent('a server that outlives its odek', PATIENT, () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('is gone after the next start at the latest (%s)', (signal) =>
    onStage([DONE], async (stage) => {
      const { args = [], ...given } = (await entry(stage)) as { command: string; args?: readonly string[] };
      await operator(stage, { stuck: { ...given, args: [...args, 'stubborn'], auto_approve: true } });
      const running = stage.start(['run', 'greet']);
      await until('the server runs', () => pidsOf(stage).length === 1);
      running.child.kill(signal);
      await running.ended;
      await operator(stage, { small: { ...given, args, auto_approve: true } });
      expect((await stage.run(['mcp', 'probe', 'small'])).code).toBe(0);
      expect(pidsOf(stage)).toHaveLength(2);
      await nothingRuns(stage);
    }),
  );
});

describe.concurrent('odek repl', PATIENT, () => {
  it('leaves nothing behind when Ctrl-C ends its start', () =>
    onStage([], async (stage) => {
      const { args = [], ...given } = (await entry(stage)) as { command: string; args?: readonly string[] };
      await operator(stage, { slow: { ...given, args: [...args, 'silent'], auto_approve: true } });
      const seen = await stage.terminal(['repl'], [{ pause: 2 }, { send: '\u0003' }]);
      expect(seen.exit).toBe(130);
      expect(pidsOf(stage)).toHaveLength(1);
      await nothingRuns(stage);
    }));
});

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
      expect(ended.stderr).toContain('other');
      expect(stage.server.requests).toEqual([]);
    }));
});
