/**
 * One process of the endurance run: opens the session (or makes it), runs or resumes the scripted task
 * over the real store and the real loop, checks every request, and prints how far it is. Arguments:
 * state folder, session id.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { createDiskFileSystem } from '../../../adapters/fs/disk.ts';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { createRandomIds } from '../../../adapters/ids/random.ts';
import { createSchemaValidator } from '../../../adapters/schema/ajv.ts';
import { openStore } from '../../../adapters/store/index.ts';
import { createAgent } from '../../../core/agent/agent.ts';
import { createPlanDesk } from '../../../core/plan/desk.ts';
import { applyPlugins } from '../../../core/plugins/host.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import planTool from '../../../plugins/plan-tool/index.ts';
import { hasCode } from '../../../ports/errors.ts';
import type { LlmProvider } from '../../../ports/llm.ts';
import { defineTool } from '../../../ports/plugin.ts';
import { digestReply, faultOf, measureResult, reply, SYSTEM, TASK, WINDOW } from './script.ts';

const [folder = '', session = ''] = process.argv.slice(2);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Milliseconds a digest takes, so that iterations pass meanwhile. */
const DIGEST_MS = 20;

function scripted(): LlmProvider {
  let asked = 0;
  let digests = 0;
  const life = createRandomIds().hex(4);
  return {
    name: 'scripted',
    limits: () => ({ contextWindow: WINDOW }),
    close: async () => {},
    async *stream(request, signal) {
      if (request.tools.length === 0) {
        digests += 1;
        await delay(DIGEST_MS, undefined, { signal });
        // Every third fails: the notes have to do until the next one.
        if (digests % 3 === 0) throw new Error('no digest today');
        const message = { role: 'assistant', content: digestReply(request) } as const;
        yield { type: 'response', finish: 'stop', message, usage: { input: 1, output: 1, estimated: false } };
        return;
      }
      const fault = faultOf(request);
      if (fault !== undefined) throw new Error(`request ${asked + 1} of this life: ${fault}`);
      asked += 1;
      const message = reply(request, () => `${life}-${asked}-${Math.random()}`);
      yield {
        type: 'response',
        finish: message.toolCalls ? 'tool_calls' : 'stop',
        message,
        usage: { input: 1, output: 1, estimated: false },
      };
    },
  };
}

const clock = createSystemClock();
const ids = createRandomIds();
const hash = createSha256();
const validator = createSchemaValidator();
const redactor = createRedactor([]);
const registry = createToolRegistry();
const plans = createPlanDesk({ maxSteps: 50, maxRenderChars: 4_000, hash, redact: redactor.json });
registry.registrar('endurance').register(
  defineTool<{ step: number }>({
    name: 'measure',
    description: 'Measures one step.',
    parameters: { type: 'object', properties: { step: { type: 'integer' } }, required: ['step'] },
    effects: () => ({}),
    execute: async ({ step }) => {
      say(`step ${step}`);
      return measureResult(step);
    },
  }),
);
await applyPlugins([planTool], { registry, validator, clock, configs: {}, services: { plan: plans } });

const store = await openStore({ path: join(folder, 'odek.db'), surface: 'endurance-test', durability: 'process', clock, ids });
const never = new AbortController().signal;
let trims = 0;
const agent = createAgent(
  {
    provider: scripted(),
    tools: registry,
    validator,
    fs: createDiskFileSystem({ root: folder, stateDir: join(folder, 'state') }),
    clock,
    ids,
    hash,
    redactor,
    plans,
    emit: (event) => {
      if (event.type === 'context_trimmed') trims += 1;
    },
  },
  {
    model: 'scripted',
    systemPrompt: SYSTEM,
    workspace: folder,
    maxIterations: 100_000,
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
const fresh = opened.records.length === 0;
const result = await agent.run({ session: opened, signal: never, ...(fresh && { task: TASK }) });
await opened.close();
await store.close();
if (result.error) throw new Error(`${result.error.code}: ${result.error.message}`);
say(`trims ${trims}`);
say(`ended ${result.outcome} ${result.answer}`);
