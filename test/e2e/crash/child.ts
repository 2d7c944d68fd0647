/**
 * One process of the crash test: opens the session (or makes it), runs or resumes the scripted task
 * and prints what it was told, a line an event. Arguments: state folder, session id, seed.
 */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { createAgent } from '../../../core/agent/agent.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { LlmProvider } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { defineTool } from '../../../ports/plugin.ts';
import { nextCalls, STEPS } from './script.ts';

const [folder = '', session = ''] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Decides from the transcript alone, as a model does: ask again only for what certainly never ran. */
function scripted(): LlmProvider {
  return {
    name: 'scripted',
    limits: () => ({}),
    close: async () => {},
    async *stream(request, signal) {
      await delay(1, undefined, { signal });
      const calls = nextCalls(request.messages as readonly Message[]);
      yield {
        type: 'response',
        finish: calls.length > 0 ? 'tool_calls' : 'stop',
        usage: { input: 1, output: 1, estimated: false },
        message:
          calls.length > 0
            ? {
                role: 'assistant',
                content: '',
                toolCalls: calls.map((call) => ({ ...call, arguments: JSON.stringify({ effect: call.id }) })),
              }
            : { role: 'assistant', content: `all ${STEPS} steps are settled` },
      };
    },
  };
}

const registry = createToolRegistry();
registry.registrar('crash').register(
  defineTool<{ effect: string }>({
    name: 'effect',
    description: 'Leaves a mark.',
    parameters: { type: 'object', properties: { effect: { type: 'string' } }, required: ['effect'] },
    effects: () => ({}),
    execute: async ({ effect }) => {
      appendFileSync(join(folder, 'effects.log'), `${effect}\n`);
      await delay(1);
      return `mark ${effect} left`;
    },
  }),
);

const clock = createSystemClock();
const ids = createRandomIds();
const store = await openStore({ path: join(folder, 'odek.db'), surface: 'crash-test', durability: 'process', clock, ids });
const never = new AbortController().signal;
const agent = createAgent(
  {
    provider: scripted(),
    tools: registry,
    validator: createSchemaValidator(),
    fs: createDiskFileSystem({ root: folder, stateDir: join(folder, 'state') }),
    clock,
    ids,
    hash: createSha256(),
    redactor: createRedactor([]),
    shell: createShellGrammar(),
    emit: (event) => {
      if (event.type === 'tool_call_started') say(`started ${event.data.call_id}`);
      if (event.type === 'tool_call_completed') say(`completed ${event.data.call_id}`);
    },
  },
  {
    model: 'scripted',
    systemPrompt: 'Crash test.',
    workspace: folder,
    maxIterations: 1000,
    maxToolParallel: 4,
    toolTimeoutMs: 10_000,
    approvalTimeoutMs: 1_000,
    sideCallTimeoutMs: 1_000,
    stream: true,
    limits: {},
    prices: {},
    danger: { classes: {}, allowlist: [], denylist: [], action: 'allow', nonInteractive: 'allow' },
    sandbox: false,
  },
);

const opened = await store.sessions.open(session, { waitMs: 5_000 }, never).catch((error: unknown) => {
  if (!hasCode(error, 'session_not_found')) throw error;
  return store.sessions.create({
    id: session,
    title: '',
    provider: 'scripted',
    model: 'scripted',
    workspace: folder,
    listed: true,
    externalRefs: [],
  });
});
say('ready');
const fresh = opened.records.length === 0;
/** Killed between storing the answer and ending: there is nothing left to do. */
const alreadyAnswered = (error: unknown): { outcome: string; answer: string } => {
  const last = opened.records.findLast(({ record }) => record.kind === 'message')?.record;
  if (!hasCode(error, 'nothing_to_continue') || last?.kind !== 'message') throw error;
  return { outcome: 'answer', answer: last.message.content };
};
const input = { session: opened, signal: never, ...(fresh && { task: 'leave every mark' }) };
const result = await agent.run(input).catch(alreadyAnswered);
await opened.close();
await store.close();
say(`ended ${result.outcome} ${result.answer}`);
