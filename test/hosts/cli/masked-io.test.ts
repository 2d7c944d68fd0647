import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { maskedIo } from '../../../hosts/cli/masked-io.ts';

function open(env: Readonly<Record<string, string>> = {}, tty = false) {
  const stdout = new PassThrough();
  const stderr = new PassThrough();
  const io = { stdout, stderr, stdin: new PassThrough(), stdoutIsTty: tty, stderrIsTty: tty, stdinIsTty: false, columns: 80 };
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

  it('show a terminal no character that could steer it, as JSON may hold it, and leave a pipe and colours alone', () => {
    const text = '{"a":"\x9b31m\u202e\u{e0041}\x7f"} \x1b[2mé👍\x1b[0m\n';
    const terminal = open({}, true);
    terminal.io.stdout.write(text);
    terminal.io.stderr.write(text);
    const [out, err] = [terminal.read(terminal.stdout), terminal.read(terminal.stderr)];
    expect(out).toBe('{"a":"\\u009b31m\\u202e\\udb40\\udc41\\u007f"} \x1b[2mé👍\x1b[0m\n');
    expect(err).toBe(out);
    expect(JSON.parse(out.split(' ')[0] ?? '')).toEqual(JSON.parse(text.split(' ')[0] ?? ''));
    const pipe = open();
    pipe.io.stdout.write(text);
    expect(pipe.read(pipe.stdout)).toBe(text);
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
