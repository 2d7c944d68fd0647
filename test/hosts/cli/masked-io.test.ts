import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { maskedIo } from '../../../hosts/cli/masked-io.ts';

function open(env: Readonly<Record<string, string>> = {}) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io = { stdout, stderr, stdin: new PassThrough(), stdoutIsTty: false, stderrIsTty: false, stdinIsTty: false, columns: 80 };
  return { io: maskedIo(io, env), stdout, stderr, read: (stream: PassThrough): string => String(stream.read() ?? '') };
}

describe('the masked streams of a terminal', () => {
  it('hide what variables with telling names hold, before anything else is known', () => {
    const { io, stderr, read } = open({ MY_API_TOKEN: 'canary-token-value', HOME: '/home/me', GOOGLE_CREDENTIALS: '/home/me/key.json' });
    io.stderr.write('error: canary-token-value in /home/me/key.json\n');
    expect(read(stderr)).toBe('error: [REDACTED] in /home/me/key.json\n');
  });

  it('hide what they are told, and what has the shape of a secret', () => {
    const { io, stdout, read } = open();
    io.mask?.(['canary-other-value']);
    io.stdout.write(`a canary-other-value ghp_${'a1B2'.repeat(9)}\n`);
    expect(read(stdout)).toBe('a [REDACTED] [REDACTED]\n');
  });

  it('leave bytes, callbacks, answers and events of the stream as they are', async () => {
    const { io, stdout } = open();
    const heard: string[] = [];
    io.stdout.on('data', (piece: Buffer) => void heard.push(String(piece)));
    await new Promise<void>((resolve) => {
      expect(io.stdout.write(Buffer.from('bytes'), () => resolve())).toBe(true);
    });
    expect(heard).toEqual(['bytes']);
    expect(io.stdout.writable).toBe(true);
    io.stdout.end();
    await new Promise((resolve) => stdout.once('close', resolve));
    expect(io.stdout.writable).toBe(false);
  });
});
