import assert from 'node:assert/strict';
import { hasCode } from '../../ports/errors.ts';
import {
  type ActivateParams,
  type ActivateResult,
  type ExtensionHost,
  type ExtensionHostLauncher,
  type ExtensionHostListener,
  type ExtensionHostSpec,
  type HostNotice,
  HostRefusal,
  type HostRequest,
  type Registration,
} from '../../ports/extension-host.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** A launcher, and a place for plugins that its hosts can read. */
export interface ExtensionSeat {
  readonly launcher: ExtensionHostLauncher;
  readonly spec: ExtensionHostSpec;
  /** Keeps a plugin of JavaScript files, without imports between them, and says how it is activated. */
  place(name: string, files: Readonly<Record<string, string>>): ActivateParams;
  /** Ends the process of a host as a crash would. */
  crash(host: ExtensionHost): void;
  close(): Promise<void>;
}

export interface ExtensionHostHarness {
  seat(): Promise<ExtensionSeat>;
}

/** A host that runs, and everything that its listener got. */
interface Stage {
  readonly seat: ExtensionSeat;
  readonly host: ExtensionHost;
  readonly requests: HostRequest[];
  readonly notices: HostNotice[];
  /** Registrations that core has, by handle. */
  readonly live: Map<string, Registration>;
  handleOf(name: string): string;
}

const BOUND_MS = 15_000;
const never = new AbortController().signal;

/** Fails instead of hanging. */
async function soon<Value>(work: Promise<Value>, what: string, ms = BOUND_MS): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new assert.AssertionError({ message: `${what} did not happen within ${ms} ms` })), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work;
  } catch (error) {
    return (error as { readonly code?: string }).code ?? 'none';
  }
  return 'resolved';
}

function onStage(id: string, sentence: string, check: (stage: Stage) => Promise<void>): ContractCase<ExtensionHostHarness> {
  return {
    id: `extension-host/${id}`,
    sentence,
    async run(harness) {
      const seat = await harness.seat();
      try {
        const requests: HostRequest[] = [];
        const notices: HostNotice[] = [];
        const live = new Map<string, Registration>();
        let count = 0;
        const listener: ExtensionHostListener = {
          async request(request) {
            requests.push(request);
            if (request.method === 'core/call') {
              if (request.params.name === 'forbidden') throw new HostRefusal('denied', 'not for you', 'not_granted');
              return { content: `ran ${request.params.name}`, isError: false };
            }
            if (request.method === 'registry/unregister') live.delete(request.params.handle);
            if (request.method !== 'registry/register') return {};
            if (request.params.spec.name.startsWith('taken')) throw new HostRefusal('refused', 'the name is taken');
            count += 1;
            live.set(`handle-${count}`, request.params.spec);
            return { handle: `handle-${count}` };
          },
          notice: (notice) => void notices.push(notice),
        };
        const host = await soon(seat.launcher.start(seat.spec, listener, never), 'the start');
        try {
          const handleOf = (name: string): string => [...live].find(([, spec]) => spec.name === name)?.[0] ?? `no ${name}`;
          await check({ seat, host, requests, notices, live, handleOf });
        } finally {
          await soon(host.close(), 'the end');
        }
      } finally {
        await seat.close();
      }
    },
  };
}

const OPEN = '{ type: "object" }';
const tool = (name: string, body: string): string =>
  `ctx.tools.register({ name: '${name}', description: 'A tool of a test', parameters: ${OPEN}, async execute(input, exec) { ${body} } });`;
const plugin = (body: string): string => `export const inject = ['tools'];\nexport async function apply(ctx) {\n${body}\n}\n`;

function activated(stage: Stage, name: string, files: Readonly<Record<string, string>>): Promise<ActivateResult> {
  return soon(stage.host.activate(stage.seat.place(name, files), never), 'the activation');
}

function callTool(
  { host, handleOf }: Stage,
  name: string,
  input: unknown = {},
  more: { signal?: AbortSignal; deadlineMs?: number; ticket?: string } = {},
) {
  const ticket = more.ticket === undefined ? {} : { ticket: more.ticket };
  return host.call(
    {
      method: 'tool/call',
      params: { handle: handleOf(name), call_id: 'call-1', input, workspace: '/project', ...ticket },
      deadlineMs: more.deadlineMs ?? BOUND_MS,
    },
    more.signal ?? never,
  );
}

const answerTo = (stage: Stage, name: string, input?: unknown) => soon(callTool(stage, name, input).result, `the answer of ${name}`);

/** The contract of {@link ExtensionHost}. */
export const extensionHostSuite: ContractSuite<ExtensionHostHarness> = {
  port: 'ExtensionHost',
  cases: [
    onStage(
      'activation',
      'an entry is active once its `apply` and all its registrations have settled; one that fails is withdrawn, with a diagnostic, and the others stay',
      async (stage) => {
        const result = await activated(stage, 'several', {
          'one.mjs': plugin(`await new Promise((resolve) => setTimeout(resolve, 20)); ${tool('one', 'return "1"')}`),
          'two.mjs': plugin(`${tool('two', 'return "2"')} throw new Error('broken on purpose');`),
          'three.mjs': plugin(`${tool('three', 'return "3"')} ${tool('taken_three', 'return "3"')}`),
          'four.mjs': plugin(tool('four', 'return "4"')),
        });
        assert.equal(result.status, 'ok');
        assert.deepEqual(
          result.entries.map((each) => each.status),
          ['ok', 'failed', 'failed', 'ok'],
        );
        assert.match(result.entries[1]?.diagnostic ?? '', /broken on purpose/);
        assert.match(result.entries[2]?.diagnostic ?? '', /the name is taken/);
        assert.deepEqual(result.entries[0]?.tools, ['one']);
        assert.deepEqual([...stage.live.values()].map((spec) => spec.name).sort(), ['four', 'one']);
        const failed = await activated(stage, 'hopeless', { 'one.mjs': plugin(`throw new Error('nothing works')`) });
        assert.equal(failed.status, 'failed');
      },
    ),
    onStage('calls', '`call` reaches exactly the registration of its handle and resolves with what it gave', async (stage) => {
      await activated(stage, 'two', {
        'main.mjs': plugin(
          `${tool('first', 'return ["first", input.text, exec.callId, exec.workspace].join(" ")')} ${tool('second', 'return { content: "second", failed: true }')}`,
        ),
      });
      assert.deepEqual(await answerTo(stage, 'first', { text: 'ä\u0000😀' }), {
        content: 'first ä\u0000😀 call-1 /project',
        failed: false,
      });
      assert.deepEqual(await answerTo(stage, 'second'), { content: 'second', failed: true });
    }),
    onStage('failures', 'what a call throws rejects with `extension_call_failed` and its message; the host goes on', async (stage) => {
      await activated(stage, 'throws', {
        'main.mjs': plugin(`${tool('throws', 'throw new Error("it rained")')} ${tool('works', 'return "fine"')}`),
      });
      await assert.rejects(
        soon(callTool(stage, 'throws').result, 'the failure'),
        (error) => hasCode(error, 'extension_call_failed') && /it rained/.test(error.message),
      );
      assert.equal((await answerTo(stage, 'works')).content, 'fine');
    }),
    onStage(
      'handles',
      'a handle that is not there, or whose owner was deactivated, rejects with `extension_not_available`',
      async (stage) => {
        const params = stage.seat.place('leaves', { 'main.mjs': plugin(tool('leaves', 'return "here"')) });
        await soon(stage.host.activate(params, never), 'the activation');
        const call = {
          method: 'tool/call',
          params: { handle: stage.handleOf('leaves'), call_id: 'x', input: {} },
          deadlineMs: BOUND_MS,
        } as const;
        assert.equal(await codeOf(callTool(stage, 'nobody').result), 'extension_not_available');
        await soon(stage.host.deactivate(params.owner), 'the deactivation');
        assert.equal(await codeOf(soon(stage.host.call(call, never).result, 'the answer')), 'extension_not_available');
      },
    ),
    onStage(
      'cancellation',
      'when `signal` fires, a call rejects with `CancelledError` within a second, whatever the plugin does; the plugin sees its own signal fire',
      async (stage) => {
        await activated(stage, 'waits', {
          'main.mjs': plugin(
            `let seen = 'nothing'; ${tool('deaf', 'exec.signal.addEventListener("abort", () => { seen = "abort"; }); await new Promise(() => {})')} ${tool('seen', 'return seen')}`,
          ),
        });
        const controller = new AbortController();
        const pending = callTool(stage, 'deaf', {}, { signal: controller.signal });
        await answerTo(stage, 'seen');
        controller.abort();
        assert.equal(await soon(codeOf(pending.result), 'the cancellation', 5_000), 'cancelled');
        assert.equal((await answerTo(stage, 'seen')).content, 'abort');
      },
    ),
    onStage(
      'deadlines',
      'a call past its deadline rejects with `extension_timeout`; while it is held, its clock stands still',
      async (stage) => {
        await activated(stage, 'slow', {
          'main.mjs': plugin(
            `${tool('stuck', 'await new Promise(() => {})')} ${tool('slow', 'await new Promise((resolve) => setTimeout(resolve, 700)); return "done"')}`,
          ),
        });
        assert.equal(
          await soon(codeOf(callTool(stage, 'stuck', {}, { deadlineMs: 50 }).result), 'the time limit', 4_000),
          'extension_timeout',
        );
        const held = callTool(stage, 'slow', {}, { deadlineMs: 300 });
        const release = held.hold();
        assert.equal((await soon(held.result, 'the answer')).content, 'done');
        release();
      },
    ),
    onStage(
      'requests',
      'requests of plugins reach the listener with the owner they come from; what the listener refuses reaches the plugin with its reason',
      async (stage) => {
        const params = stage.seat.place('asks', {
          'main.mjs': plugin(
            tool(
              'asks',
              'try { return (await exec.core.call(input.name, { a: 1 })).content } catch (error) { return [error.name, error.code, error.message, error.data.dsh_refusal].join(" ") }',
            ),
          ),
        });
        await soon(stage.host.activate(params, never), 'the activation');
        const ask = (name: string) => soon(callTool(stage, 'asks', { name }, { ticket: 'ticket-1' }).result, 'the answer');
        assert.equal((await ask('read')).content, 'ran read');
        assert.equal((await ask('forbidden')).content, 'CoreCallError denied not for you not_granted');
        const asked = stage.requests.flatMap((each) => (each.method === 'core/call' ? [each.params] : []));
        assert.deepEqual(asked[0], { owner: params.owner, ticket: 'ticket-1', name: 'read', input: { a: 1 } });
      },
    ),
    onStage(
      'deactivation',
      "`deactivate` undoes an owner's registrations at the listener, and says so when something did not end in time",
      async (stage) => {
        const clean = stage.seat.place('clean', { 'main.mjs': plugin(tool('clean', 'return ""')) });
        const dirty = stage.seat.place('dirty', {
          'main.mjs': plugin(`${tool('dirty', 'return ""')} ctx.effect(() => () => new Promise(() => {}), 'a thing that stays');`),
        });
        for (const params of [clean, dirty]) assert.equal((await soon(stage.host.activate(params, never), 'the activation')).status, 'ok');
        assert.deepEqual(await soon(stage.host.deactivate(clean.owner), 'the deactivation'), { disposed: true, leaked: [] });
        assert.deepEqual(
          [...stage.live.values()].map((spec) => spec.name),
          ['dirty'],
        );
        assert.equal((await soon(stage.host.deactivate(dirty.owner), 'the deactivation')).disposed, false);
        assert.deepEqual([...stage.live.values()], []);
      },
    ),
    onStage(
      'exit',
      'when the process ends, what waits rejects at once with `extension_exited` and how it ended; nothing is sent again; the listener is told once',
      async (stage) => {
        await activated(stage, 'waits', {
          'main.mjs': plugin(`${tool('waits', 'await new Promise(() => {})')} ${tool('works', 'return "here"')}`),
        });
        const waits = [callTool(stage, 'waits').result, callTool(stage, 'waits').result];
        await answerTo(stage, 'works');
        stage.seat.crash(stage.host);
        for (const each of waits) {
          await assert.rejects(
            soon(each, 'the end of a call', 5_000),
            (error) => hasCode(error, 'extension_exited') && /SIGKILL/.test(error.message),
          );
        }
        assert.equal(await codeOf(soon(callTool(stage, 'works').result, 'the refusal')), 'extension_exited');
        assert.equal(stage.host.report().state, 'exited');
        assert.equal(stage.notices.filter((each) => each.kind === 'state' && each.state === 'exited').length, 1);
      },
    ),
    onStage('close', '`close` ends the process and is idempotent; later calls reject with `extension_exited`', async (stage) => {
      await activated(stage, 'waits', { 'main.mjs': plugin(tool('waits', 'await new Promise(() => {})')) });
      const waits = callTool(stage, 'waits').result;
      const code = codeOf(waits);
      await soon(Promise.all([stage.host.close(), stage.host.close()]), 'the end');
      assert.equal(await soon(code, 'the end of a call', 4_000), 'extension_exited');
      assert.equal(await codeOf(callTool(stage, 'waits').result), 'extension_exited');
      assert.equal(stage.host.report().state, 'exited');
      await soon(stage.host.close(), 'a second end');
    }),
  ],
};
