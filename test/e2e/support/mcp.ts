import { existsSync, readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { OpenAiServer, ServerReply } from '../../fakes/openai-server.ts';
import { isAlive, until } from './processes.ts';
import type { Stage } from './stage.ts';

/** The small server that the tests configure. */
export const SERVER = fileURLToPath(new URL('mcp-server.mjs', import.meta.url));

export const call = (name: string, input: object = {}): ServerReply => ({ calls: [{ name, arguments: input }] });
export const DONE: ServerReply = { text: 'It is done.' };
export const APPROVE = { ODEK_APPROVE_MCP: '1' };
/** The question about a project's server. */
export const START = 'Start it? [y/N]';

/** A tool as the small server lists it. */
export const tool = (name: string, description = `The tool ${name}.`, properties: object = {}) => ({
  name,
  description,
  inputSchema: { type: 'object', properties },
});

/** The two files of a server on this stage: its tools, and the ids of its processes. */
const files = ({ work }: Pick<Stage, 'work'>) => ({ tools: join(work, '..', 'tools.json'), pids: join(work, '..', 'pids') });

/** An entry of `mcp_servers` that starts the small server with these tools. */
export async function entry(stage: Pick<Stage, 'work'>, tools: readonly object[] = [tool('greet'), tool('count')]): Promise<object> {
  const { tools: file, pids } = files(stage);
  await writeFile(file, JSON.stringify(tools));
  return { command: process.execPath, args: [SERVER, file, pids] };
}

/** Writes the project's file with these servers. */
export const project = async (stage: Stage, servers: Record<string, object>): Promise<void> =>
  void (await stage.file('odek.json', JSON.stringify({ mcpServers: servers })));

/** Processes of the small server that ever ran on this stage. */
export const pidsOf = (stage: Pick<Stage, 'work'>): readonly number[] => {
  const { pids } = files(stage);
  return existsSync(pids) ? readFileSync(pids, 'utf8').trim().split('\n').map(Number) : [];
};

export const nothingRuns = (stage: Pick<Stage, 'work'>): Promise<void> =>
  until('every server process is gone', () => pidsOf(stage).every((pid) => !isAlive(pid)));

/** Names of servers' tools in a request to the model, the last one unless told. */
export const toolsTold = (server: OpenAiServer, request = -1): readonly string[] => {
  const { tools = [] }: { tools?: { function: { name: string } }[] } = server.requests.at(request)?.body ?? {};
  return tools.map((each) => each.function.name).filter((name) => name.includes('__'));
};

/** What the model read of its calls so far. */
export const lastResults = (server: OpenAiServer): string[] => {
  const messages: { role: string; content: string }[] = server.requests.at(-1)?.body.messages ?? [];
  return messages.filter((message) => message.role === 'tool').map((message) => message.content);
};

/** Answers as a person does: waits for the question, then types. */
export const answer = (question: string, text: string) => [{ wait: question }, { send: `${text}\r` }] as const;

/** The operator's configuration of this stage with servers in it. */
export const operator = async (stage: Stage, mcp_servers: Record<string, object>, more: object = {}): Promise<void> => {
  const config = JSON.parse(await readFile(join(stage.state, 'config.json'), 'utf8'));
  await stage.configure({ ...config, mcp_servers, ...more });
};
