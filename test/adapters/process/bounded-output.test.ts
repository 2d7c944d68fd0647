import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { keepOutput } from '../../../adapters/process/bounded-output.ts';

async function kept(chunks: readonly Buffer[], maxBytes: number) {
  const stream = new PassThrough();
  const output = keepOutput(stream, maxBytes);
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await new Promise((resolve) => stream.on('close', resolve));
  return output.read();
}

describe('kept output', () => {
  const text = 'aé€😀';

  it.each([1, 2, 3, 4, 5, 6, 7, 8, 9])('cut after %i bytes never ends in half a character', async (maxBytes) => {
    const { text: result, truncated } = await kept([Buffer.from(text)], maxBytes);
    expect(text.startsWith(result)).toBe(true);
    expect(Buffer.byteLength(result)).toBeGreaterThan(maxBytes - 4);
    expect(truncated).toBe(true);
  });

  it('that fits is whole, byte by byte as well', async () => {
    const bytes = Buffer.from(text);
    const single = [...bytes].map((byte) => Buffer.from([byte]));
    expect(await kept(single, bytes.length)).toEqual({ text, truncated: false });
  });

  it('of bytes that are no text keeps what it can', async () => {
    expect((await kept([Buffer.from([0xff, 0xff, 0x61, 0x80])], 3)).text).toBe('\ufffd\ufffda');
  });
});
