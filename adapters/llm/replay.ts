import { readFile, stat } from 'node:fs/promises';
import { defineAdapter } from '../../ports/adapter.ts';
import type { Clock } from '../../ports/clock.ts';
import { CancelledError, ConfigError } from '../../ports/errors.ts';
import type { LlmProvider, ModelEvent } from '../../ports/llm.ts';
import { ProviderError } from '../../ports/llm.ts';
import { readOptions } from './options.ts';
import type { RecordedReply, Recording, ReplyStep, ScriptedError } from './recording/format.ts';
import { expectedMessages, firstDifference } from './recording/match.ts';
import { parseRecording } from './recording/parse.ts';

const MAX_FILE_BYTES = 64 * 1024 * 1024;

/**
 * Plays a recorded file, exchange by exchange, and is strict about the requests it gets.
 * Options: `file`; `id` (default `replay`); `ignore_delays`.
 */
export default defineAdapter({
  port: 'llm-provider',
  name: 'replay',
  async create(options, { clock }) {
    const read = readOptions('provider "replay"', options, ['id', 'format', 'file', 'ignore_delays']);
    read.choice('format', ['replay']);
    const file = read.requiredText('file');
    const recording = parseRecording(await readRecording(file), file);
    return createReplay(recording, { id: read.text('id') ?? 'replay', clock, delays: read.flag('ignore_delays') !== true });
  },
});

async function readRecording(file: string): Promise<string> {
  try {
    const stats = await stat(file);
    // A pipe that nobody writes would be waited for without end.
    if (!stats.isFile()) throw new ConfigError('recording_unreadable', `the recording ${file} is no regular file`, { value: file });
    const { size } = stats;
    if (size > MAX_FILE_BYTES) {
      throw new ConfigError('invalid_recording', `${file} has ${size} bytes; at most ${MAX_FILE_BYTES}`, {
        value: size,
        limit: MAX_FILE_BYTES,
      });
    }
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError('recording_unreadable', `the recording ${file} cannot be read`, { value: file, cause: error });
  }
}

interface ReplaySettings {
  readonly id: string;
  readonly clock: Clock;
  readonly delays: boolean;
}

function createReplay(recording: Recording, { id, clock, delays }: ReplaySettings): LlmProvider {
  const expected = expectedMessages(recording.exchanges);
  let played = 0;

  const pause = async (ms: number | undefined, signal: AbortSignal): Promise<void> => {
    if (ms !== undefined && delays) await clock.sleep(ms, signal);
    if (signal.aborted) throw new CancelledError();
  };
  return {
    name: id,
    async *stream(request, signal): AsyncGenerator<ModelEvent> {
      if (signal.aborted) throw new CancelledError();
      const number = played + 1;
      const exchange = recording.exchanges[played];
      if (exchange === undefined) throw mismatch(number, `the recording ends after ${recording.exchanges.length} requests`);
      const difference = firstDifference(request, expected[played] ?? [], exchange.request.tools);
      if (difference !== undefined) throw mismatch(number, difference);
      played = number;
      const { reply } = exchange;
      for (const step of reply.steps) {
        await pause(step.after_ms, signal);
        const event = toEvent(step);
        if (event !== undefined) yield event;
      }
      await pause(reply.after_ms, signal);
      if (reply.error !== undefined) throw toError(reply.error);
      yield toResponse(reply);
    },
    limits: () => recording.limits ?? {},
    close: async () => undefined,
  };
}

function mismatch(number: number, difference: string): ProviderError {
  return new ProviderError('replay_mismatch', `request ${number} is not the recorded one: ${difference}`, {
    value: difference,
    limit: number,
  });
}

function toEvent(step: ReplyStep): ModelEvent | undefined {
  if ('keep_alive' in step) return { type: 'keep_alive' };
  if ('reasoning' in step) return step.reasoning === '' ? undefined : { type: 'reasoning_delta', text: step.reasoning };
  return step.text === '' ? undefined : { type: 'text_delta', text: step.text };
}

function toError(error: ScriptedError): ProviderError {
  return new ProviderError(error.code, error.message, {
    retryable: error.retryable ?? false,
    status: error.status,
    retryAfterMs: error.retry_after_ms,
  });
}

function toResponse(reply: RecordedReply): ModelEvent {
  const text = reply.steps.map((step) => ('text' in step ? step.text : '')).join('');
  const reasoning = reply.steps.map((step) => ('reasoning' in step ? step.reasoning : '')).join('');
  return {
    type: 'response',
    message: {
      role: 'assistant',
      content: text,
      ...(reasoning === '' ? {} : { reasoning }),
      ...(reply.calls.length === 0 ? {} : { toolCalls: reply.calls }),
    },
    finish: reply.finish,
    ...(reply.usage === undefined ? {} : { usage: reply.usage }),
  };
}
