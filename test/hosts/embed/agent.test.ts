import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createAgent, type EmbeddedAgent } from '../../../hosts/api.ts';
import type { RunEvent } from '../../../ports/event.ts';
import { definePlugin, defineTool } from '../../../ports/plugin.ts';
import { isAlive, pidIn } from '../../e2e/support/processes.ts';
import { createScriptedProvider } from '../../fakes/llm.ts';
import { startOpenAiServer } from '../../fakes/openai-server.ts';

const MCP_SERVER = fileURLToPath(new URL('../../e2e/support/mcp-server.mjs', import.meta.url));

let workspace = '';
let agent: EmbeddedAgent | undefined;
beforeEach(async () => {
  workspace = await realpath(await mkdtemp(join(tmpdir(), 'odek-embed-')));
});
afterEach(async () => {
  await agent?.close();
  agent = undefined;
  await rm(workspace, { recursive: true, force: true });
});

const weather = definePlugin({
  name: 'weather',
  inject: ['tools'],
  apply: (ctx) => {
    ctx.tools.register(
      defineTool<{ city: string }>({
        name: 'weather',
        description: 'The weather of a city.',
        parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
        effects: () => ({}),
        execute: async ({ city }) => `sunny in ${city}`,
      }),
    );
  },
});

describe('an agent inside another program', () => {
  it('runs a live provider with tools of the program, and tells its events', async () => {
    const events: RunEvent[] = [];
    const provider = createScriptedProvider([{ calls: [{ name: 'weather', arguments: { city: 'Oslo' } }] }, { text: 'It is sunny.' }]);
    agent = await createAgent({ provider, plugins: [weather], workspace, onEvent: (event) => events.push(event) });
    expect(await agent.run('How is Oslo?')).toMatchObject({ answer: 'It is sunny.', outcome: 'answer' });
    expect(provider.requests[0]?.tools.map((tool) => tool.name)).toEqual(['weather']);
    expect(events.map((event) => event.type)).toContain('tool_call_completed');
  });

  it('brings the built-in tools it was asked for', async () => {
    await writeFile(join(workspace, 'a.txt'), 'hello');
    const provider = createScriptedProvider([{ calls: [{ name: 'read_file', arguments: { path: 'a.txt' } }] }, { text: 'read' }]);
    agent = await createAgent({ provider, builtIns: ['files'], workspace });
    await agent.run('read a.txt');
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain('hello');
  });

  it('calls the tools of MCP servers that it was given, and ends them', async () => {
    const pids = join(workspace, 'pids');
    await writeFile(
      join(workspace, 'tools.json'),
      JSON.stringify([{ name: 'greet', description: 'Greets.', inputSchema: { type: 'object' } }]),
    );
    const small = { command: process.execPath, args: [MCP_SERVER, join(workspace, 'tools.json'), pids], auto_approve: true };
    const provider = createScriptedProvider([{ calls: [{ name: 'small__greet', arguments: { a: 1 } }] }, { text: 'greeted' }]);
    agent = await createAgent({ provider, workspace, config: { mcp_servers: { small } } });
    expect(await agent.run('greet')).toMatchObject({ answer: 'greeted', outcome: 'answer' });
    expect(JSON.stringify(provider.requests.at(-1)?.messages)).toContain('greet says');
    await agent.close();
    expect(isAlive(await pidIn(pids))).toBe(false);
  });

  it('plans where it brings the plan tool, and keeps the name of that tool free of others where it does not', async () => {
    const calls = [{ name: 'plan', arguments: { verb: 'create', steps: ['A'] } }];
    const provider = createScriptedProvider([{ calls }, { text: 'planned' }]);
    const events: RunEvent[] = [];
    agent = await createAgent({ provider, builtIns: ['plan-tool'], workspace, onEvent: (event) => events.push(event) });
    await agent.run('plan it');
    expect(events.map(({ type }) => type)).toContain('plan_created');
    expect(provider.requests[0]?.messages[0]?.content).toContain('maintain a plan with the plan tool');
    await agent.close();
    const squatter = definePlugin({
      name: 'squatter',
      inject: ['tools'],
      apply: ({ tools }) => {
        tools.register({ name: 'plan', description: 'Mine.', parameters: { type: 'object' }, execute: async () => 'mine' });
      },
    });
    agent = undefined;
    await expect(createAgent({ provider, plugins: [squatter], workspace })).rejects.toMatchObject({ code: 'tool_name_taken' });
  });

  it('ends the jobs of a session without a name with its run, and keeps those of a named one until it is closed', async () => {
    const job = { calls: [{ name: 'bg_start', arguments: { command: 'sleep 60' } }] };
    const provider = createScriptedProvider([job, { text: 'one' }, job, { text: 'two' }]);
    const ended: RunEvent[] = [];
    agent = await createAgent({
      provider,
      builtIns: ['background', 'shell'],
      workspace,
      config: { dangerous: { action: 'allow' } },
      onEvent: (event) => {
        if (event.type === 'bg_exited') ended.push(event);
      },
    });
    await agent.run('once');
    expect(ended).toHaveLength(1);
    await agent.run('kept', { session: true });
    expect(ended).toHaveLength(1);
    await agent.close();
    agent = undefined;
    expect(ended).toHaveLength(2);
  });

  it('reaches an endpoint that its configuration names', async () => {
    const server = await startOpenAiServer([{ text: ['hi'] }]);
    try {
      agent = await createAgent({ config: { base_url: `${server.url}/v1`, model: 'm' }, workspace });
      expect((await agent.run('say hi')).answer).toBe('hi');
    } finally {
      await server.close();
    }
  });

  it('continues a session that it kept', async () => {
    const provider = createScriptedProvider([{ text: 'one' }, { text: 'two' }]);
    agent = await createAgent({ provider, workspace });
    const first = await agent.run('first', { session: true });
    const second = await agent.run('second', { session: first.session_id });
    expect(second).toMatchObject({ answer: 'two', session_id: first.session_id });
    expect(provider.requests[1]?.messages.filter((message) => message.role === 'user').map((message) => message.content)).toEqual([
      'first',
      'second',
    ]);
  });

  it('names the key and the value of a configuration that is wrong', async () => {
    await expect(
      createAgent({ provider: createScriptedProvider([]), workspace, config: { max_iterations: 'many' } }),
    ).rejects.toMatchObject({
      message: expect.stringMatching(/max_iterations.*many/),
    });
  });

  it('says how to name a provider when there is none', async () => {
    await expect(createAgent({ workspace })).rejects.toMatchObject({ code: 'no_provider' });
  });
});
