import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import record, { recordProvider } from '../../../adapters/llm/record.ts';
import replay from '../../../adapters/llm/replay.ts';
import type { Clock } from '../../../ports/clock.ts';
import type { LlmProvider, ModelRequest } from '../../../ports/llm.ts';
import { ProviderError } from '../../../ports/llm.ts';
import type { Message } from '../../../ports/message.ts';
import { createManualClock } from '../../fakes/clock.ts';
import { createScriptedProvider, type ScriptedReply } from '../../fakes/llm.ts';
import { collect, REQUEST, respond } from './wire.ts';

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-recording-'));
  file = join(folder, 'run.json');
});
afterEach(() => rm(folder, { recursive: true }));

const http = { request: () => Promise.reject(new Error('no network here')), close: async () => undefined };

async function play(recording: unknown, clock: Clock = createManualClock(), more: object = {}): Promise<LlmProvider> {
  await writeFile(file, typeof recording === 'string' ? recording : JSON.stringify(recording));
  return replay.create({ file, ...more }, { clock, http, log: () => undefined });
}

const FORMAT = 'odek.recording/v1';
const user = (content: string): Message => ({ role: 'user', content });
const system = (content: string): Message => ({ role: 'system', content });
const called: Message = { role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'glob', arguments: '{}' }] };
const result: Message = { role: 'tool', callId: 'c1', name: 'glob', content: 'a.ts', outcome: 'completed' };
const ask = (...messages: Message[]): ModelRequest => ({ ...REQUEST, messages });

const RUN = {
  format: FORMAT,
  exchanges: [
    {
      request: { messages: [{ role: 'user', includes: 'files' }] },
      reply: {
        steps: [{ reasoning: 'Hm.' }, { text: 'I ' }, { text: 'look.' }],
        calls: [{ id: 'c1', name: 'glob', arguments: { pattern: '*' } }],
      },
    },
    { request: { continues: true, messages: [{ role: 'tool', name: 'glob', callId: 'c1' }] }, reply: { steps: [{ text: 'Done.' }] } },
  ],
};

describe('the replay provider', () => {
  it('plays a run exchange by exchange', async () => {
    const provider = await play(RUN);
    expect(await collect(provider, ask(user('which files?')))).toEqual([
      { type: 'reasoning_delta', text: 'Hm.' },
      { type: 'text_delta', text: 'I ' },
      { type: 'text_delta', text: 'look.' },
      {
        type: 'response',
        message: {
          role: 'assistant',
          content: 'I look.',
          reasoning: 'Hm.',
          toolCalls: [{ id: 'c1', name: 'glob', arguments: '{"pattern":"*"}' }],
        },
        finish: 'tool_calls',
      },
    ]);
    expect(await respond(provider, ask(user('which files?'), called, result))).toMatchObject({
      finish: 'stop',
      message: { content: 'Done.' },
    });
  });

  it('does not compare system messages, texts, nonces, dates and paths', async () => {
    const provider = await play(RUN);
    await collect(provider, ask(system('Today is 2031-01-01 in /somewhere'), user('files in /else?')));
    const noisy = { ...result, content: '[9f3a] other text' } as Message;
    await collect(provider, ask(system('another day'), user('files in /else?'), called, system('plan'), noisy));
  });

  it.each([
    ['another text', [user('hello')], 'request 1', 'a text with "files", got "hello"'],
    ['another role', [called], 'request 1', 'message 1: expected role user, got role assistant'],
    ['one message too many', [user('files'), user('more')], 'request 1', 'message 2: expected no more messages, got one of role user'],
    ['no message', [], 'request 1', 'message 1: expected one of role user, got no more messages'],
  ])('refuses %s and names the first difference', async (_name, messages, number, difference) => {
    const provider = await play(RUN);
    const error = await collect(provider, ask(...messages)).catch((caught: ProviderError) => caught);
    expect(error).toMatchObject({ name: 'ProviderError', code: 'replay_mismatch', retryable: false });
    expect(String(error)).toContain(number);
    expect(String(error)).toContain(difference);
  });

  it.each([
    ['other calls', [user('files'), { ...called, toolCalls: [] } as Message, result], 'expected calls [glob (c1)], got []'],
    ['another call id', [user('files'), called, { ...result, callId: 'c2' } as Message], 'expected the result of call c1, got c2'],
    ['another tool', [user('files'), called, { ...result, name: 'shell' } as Message], 'expected the result of tool glob, got shell'],
  ])('refuses %s in the second request, and goes on when it is right', async (_name, messages, difference) => {
    const provider = await play(RUN);
    await collect(provider, ask(user('files')));
    await expect(collect(provider, ask(...messages))).rejects.toThrow(`request 2 is not the recorded one: message`);
    await expect(collect(provider, ask(...messages))).rejects.toThrow(difference);
    await collect(provider, ask(user('files'), called, result));
  });

  it('compares tools and whole texts where the recording lists them', async () => {
    const exchange = { request: { messages: [{ role: 'user', text: 'a' }], tools: ['glob'] }, reply: {} };
    const provider = await play({ format: FORMAT, exchanges: [exchange] });
    await expect(collect(provider, ask(user('ab')))).rejects.toThrow('expected the text "a", got "ab"');
    await expect(collect(provider, ask(user('a')))).rejects.toThrow('expected tools [glob], got []');
  });

  it('says when the recording is over', async () => {
    const provider = await play({ format: FORMAT, exchanges: [] });
    await expect(collect(provider)).rejects.toMatchObject({
      code: 'replay_mismatch',
      message: expect.stringContaining('ends after 0 requests'),
    });
  });

  it('keeps the recorded pauses, leaves them out on demand, and is cancelled within one', async () => {
    const slow = {
      format: FORMAT,
      exchanges: [{ request: { messages: [{ role: 'user' }] }, reply: { steps: [{ text: 'a', after_ms: 500 }], after_ms: 500 } }],
    };
    const clock = createManualClock();
    const pending = collect(await play(slow, clock));
    await clock.advance(499);
    expect(clock.pending()).toBe(1);
    await clock.advance(501);
    expect((await pending).length).toBe(2);
    expect((await collect(await play(slow, clock, { ignore_delays: true }))).length).toBe(2);
    const cancel = new AbortController();
    const cancelled = collect(await play(slow, clock), REQUEST, cancel.signal);
    await expect.poll(() => clock.pending()).toBe(1);
    cancel.abort();
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('throws scripted errors, and the next exchange may be the same request again', async () => {
    const error = { code: 'rate_limited', message: 'slow', retryable: true, status: 429, retry_after_ms: 5 };
    const provider = await play({
      format: FORMAT,
      limits: { contextWindow: 1000 },
      exchanges: [
        { request: { messages: [{ role: 'user' }] }, reply: { steps: [{ keep_alive: true }], error } },
        { request: { continues: true, messages: [] }, reply: { steps: [{ text: 'ok' }] } },
      ],
    });
    await expect(collect(provider)).rejects.toMatchObject({ code: 'rate_limited', retryable: true, status: 429, retryAfterMs: 5 });
    expect(await respond(provider)).toMatchObject({ message: { content: 'ok' } });
    expect(provider.limits('m')).toEqual({ contextWindow: 1000 });
  });

  const reply = (more: object) => ({ format: FORMAT, exchanges: [{ request: { messages: [] }, reply: more }] });
  it.each([
    ['{', 'is not JSON'],
    [[], '/ must be an object'],
    [{ format: 'x' }, '/format must be "odek.recording/v1"'],
    [{ format: FORMAT }, '/exchanges must be a list'],
    [{ format: FORMAT, exchanges: [], colour: 1 }, '/colour must be absent'],
    [{ format: FORMAT, exchanges: [{ request: {}, reply: {} }] }, '/exchanges/0/request/messages must be a list'],
    [
      { format: FORMAT, exchanges: [{ request: { messages: [{ role: 'system' }] }, reply: {} }] },
      '/exchanges/0/request/messages/0/role must be one of user',
    ],
    [reply({ steps: [{}] }), '/exchanges/0/reply/steps/0 must be a step'],
    [reply({ steps: [{ text: 1 }] }), '/exchanges/0/reply/steps/0/text must be a text'],
    [reply({ after_ms: -1 }), '/exchanges/0/reply/after_ms must be a whole number from 0 to 60000'],
    [reply({ finish: 'end' }), '/exchanges/0/reply/finish must be one of stop'],
    [reply({ error: { code: 'odd', message: '' } }), '/exchanges/0/reply/error/code must be one of'],
    [reply({ usage: { input: 1 } }), '/exchanges/0/reply/usage/output must be a whole number'],
    [reply({ calls: [{ id: 'a' }] }), '/exchanges/0/reply/calls must be a text'],
  ])('refuses the recording %j and names the place', async (recording, message) => {
    await expect(play(recording)).rejects.toMatchObject({
      name: 'ConfigError',
      code: 'invalid_recording',
      message: expect.stringContaining(message),
    });
  });

  it('plays the recording that the documentation shows', async () => {
    const page = await readFile(new URL('../../../docs/providers.md', import.meta.url), 'utf8');
    const example = page.match(/```json\n(\{\n {2}"format": "odek\.recording[^`]*)```/)?.[1] ?? '';
    const provider = await play(example, createManualClock(), { ignore_delays: true });
    const glob = { ...called, toolCalls: [{ id: 'call_1', name: 'glob', arguments: '{}' }] } as Message;
    const later = ask(user('my folder'), glob, { ...result, callId: 'call_1' } as Message);
    expect(await respond(provider, ask(user('my folder')))).toMatchObject({ message: { content: 'Let me look.' }, finish: 'tool_calls' });
    await expect(collect(provider, later)).rejects.toMatchObject({ code: 'rate_limited', retryAfterMs: 200 });
    expect(await respond(provider, later)).toMatchObject({ message: { content: 'Two files.' } });
  });

  it('refuses a file that is not there, and wrong options', async () => {
    const services = { clock: createManualClock(), http, log: () => undefined };
    await expect(replay.create({ file: join(folder, 'none.json') }, services)).rejects.toMatchObject({ code: 'recording_unreadable' });
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    await expect(replay.create({ file: join(folder, 'pipe') }, services)).rejects.toMatchObject({ code: 'recording_unreadable' });
    await writeFile(join(folder, 'deep.json'), `{"format":"odek.recording/v1","exchanges":[${'['.repeat(50_000)}${']'.repeat(50_000)}]}`);
    await expect(replay.create({ file: join(folder, 'deep.json') }, services)).rejects.toMatchObject({ code: 'invalid_recording' });
    await expect(replay.create({}, services)).rejects.toMatchObject({ code: 'invalid_option' });
    await expect(replay.create({ file, speed: 2 }, services)).rejects.toMatchObject({ code: 'unknown_option', value: 'speed' });
  });
});

describe('the record provider', () => {
  const ids = { hex: () => 'abc' };
  const plain = (text: string): string => text;

  function recorder(steps: readonly ScriptedReply[], redact = plain, clock: Clock = createManualClock()): LlmProvider {
    return recordProvider(createScriptedProvider(steps, { limits: { contextWindow: 9 } }), { file, redact, clock, ids });
  }

  it('writes a run that replays', async () => {
    const steps = [
      { reasoning: ['Hm', '.'], text: ['I ', 'look.'], calls: [{ id: 'c1', name: 'glob', arguments: '{"cut' }] },
      { error: new ProviderError('rate_limited', 'slow', { retryable: true, status: 429, retryAfterMs: 7 }) },
      { text: 'Done.' },
      { text: 'Side.' },
    ];
    const requests = [ask(user('u')), ask(user('u'), called, result), ask(user('u'), called, result), ask(system('s'), user('side'))];
    const tell = async (provider: LlmProvider): Promise<unknown[]> => {
      const told: unknown[] = [];
      for (const request of requests) {
        told.push(
          await collect(provider, request).catch(({ code, message, retryable, status, retryAfterMs }) => ({
            code,
            message,
            retryable,
            status,
            retryAfterMs,
          })),
        );
      }
      return told;
    };
    const recording = recorder(steps);
    const told = await tell(recording);
    await recording.close();
    const written = JSON.parse(await readFile(file, 'utf8'));
    expect(written.exchanges.map((exchange: { request: object }) => exchange.request)).toEqual([
      { continues: false, messages: [{ role: 'user' }] },
      { continues: true, messages: [{ role: 'tool', name: 'glob', callId: 'c1' }] },
      { continues: true, messages: [] },
      { continues: false, messages: [{ role: 'user' }] },
    ]);
    const replayed = await replay.create({ file }, { clock: createManualClock(), http, log: () => undefined });
    expect(await tell(replayed)).toEqual(told);
    expect(replayed.limits('m')).toEqual({ contextWindow: 9 });
  });

  it('is written after every call, readable by its owner only, and leaves nothing beside it', async () => {
    const provider = recorder([{ text: 'a' }, { text: 'b' }]);
    for (const count of [1, 2]) {
      await collect(provider);
      expect(JSON.parse(await readFile(file, 'utf8')).exchanges.length).toBe(count);
    }
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['run.json']);
  });

  it('keeps pauses', async () => {
    const clock = createManualClock();
    const provider = recordProvider(
      await play(
        {
          format: FORMAT,
          exchanges: [{ request: { messages: [{ role: 'user' }] }, reply: { steps: [{ text: 'a', after_ms: 40 }], after_ms: 60 } }],
        },
        clock,
      ),
      {
        file: join(folder, 'again.json'),
        redact: plain,
        clock,
        ids,
      },
    );
    const pending = collect(provider);
    await clock.advance(40);
    await clock.advance(60);
    await pending;
    const [exchange] = JSON.parse(await readFile(join(folder, 'again.json'), 'utf8')).exchanges;
    expect(exchange.reply).toMatchObject({ steps: [{ text: 'a', after_ms: 40 }], after_ms: 60 });
  });

  it('redacts texts, reasoning, arguments and errors, also where a secret spans deltas', async () => {
    const redact = (text: string): string => text.replaceAll('hunter2', '[secret]');
    const secret = 'hunter2';
    const provider = recorder(
      [
        { reasoning: secret, text: ['it is hun', 'ter2', '!'], calls: [{ id: 'c1', name: 'glob', arguments: { pattern: secret } }] },
        { error: new ProviderError('provider_request', `no ${secret}`) },
      ],
      redact,
    );
    const live = await respond(provider);
    expect(live.message.content).toBe('it is hunter2!');
    await expect(collect(provider)).rejects.toThrow('no hunter2');
    const written = await readFile(file, 'utf8');
    expect(written).not.toContain('hunter2');
    expect(written.match(/\[secret\]/g)?.length).toBe(4);
  });

  it('does not write down a call that was cancelled', async () => {
    const provider = recorder([{ hang: true }]);
    const cancel = new AbortController();
    const pending = collect(provider, REQUEST, cancel.signal);
    await Promise.resolve();
    cancel.abort();
    await expect(pending).rejects.toMatchObject({ code: 'cancelled' });
    expect(await readdir(folder)).toEqual([]);
  });

  it('says when the file cannot be written, and leaves the old one', async () => {
    const provider = recordProvider(createScriptedProvider([{ text: 'a' }]), {
      file: join(folder, 'none', 'x.json'),
      redact: plain,
      clock: createManualClock(),
      ids,
    });
    await expect(collect(provider)).rejects.toMatchObject({
      code: 'provider_config',
      message: expect.stringContaining('cannot be written'),
    });
  });

  it.each([
    [{}, 'provider'],
    [{ provider: {} }, 'provider'],
    [{ provider: createScriptedProvider([]) }, 'file'],
    [{ provider: createScriptedProvider([]), file: 'x', redact: 'yes' }, 'redact'],
    [{ provider: createScriptedProvider([]), file: 'x', delays: 1 }, 'delays'],
  ])('refuses the options of case %# naming %s', (options, key) => {
    const create = (): unknown => record.create(options, { clock: createManualClock(), http, log: () => undefined });
    expect(create).toThrow(expect.objectContaining({ name: 'ConfigError', message: expect.stringContaining(`"${key}"`) }));
  });
});
