import { ConfigError } from '../../ports/errors.ts';
import type { CommandContext } from './command.ts';

const MAX_TASK_BYTES = 1024 * 1024;

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk as Buffer);
    size += bytes.length;
    if (size > MAX_TASK_BYTES) {
      throw new ConfigError('task_too_long', `the task on standard input is larger than ${MAX_TASK_BYTES} bytes`, {
        value: size,
        limit: MAX_TASK_BYTES,
      });
    }
    chunks.push(bytes);
  }
  return Buffer.concat(chunks).toString('utf8');
}

/**
 * The task of a command: its words, or standard input where there are none or a lone `-` and it is
 * not a terminal. `undefined` when there is neither.
 */
export async function readTask(context: CommandContext): Promise<string | undefined> {
  const words = context.args.positionals.join(' ').trim();
  if (words !== '' && words !== '-') {
    if (Buffer.byteLength(words) > MAX_TASK_BYTES) {
      throw new ConfigError('task_too_long', `the task is larger than ${MAX_TASK_BYTES} bytes`, { limit: MAX_TASK_BYTES });
    }
    return words;
  }
  if (context.io.stdinIsTty) return undefined;
  const text = (await readAll(context.io.stdin)).trim();
  return text === '' ? undefined : text;
}
