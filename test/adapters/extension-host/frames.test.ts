import { describe, expect, test } from 'vitest';
import { createFrameReader, encodeFrame, MAX_FRAME_BYTES } from '../../../adapters/extension-host/frames.ts';

function reader() {
  const messages: unknown[] = [];
  const faults: string[] = [];
  return { messages, faults, ...createFrameReader({ message: (each) => messages.push(each), fault: (each) => faults.push(each) }) };
}

function bytesOf(message: unknown): Buffer {
  return Buffer.concat(encodeFrame(message) ?? []);
}

describe('frames', () => {
  test('carry messages however the stream is cut', () => {
    const sent = [{ a: 'ä😀\u0000' }, [], { b: 'x'.repeat(1_000) }, 1, null];
    const bytes = Buffer.concat(sent.map(bytesOf));
    for (const size of [1, 2, 7, 8, 9, 100, bytes.length]) {
      const { messages, faults, push } = reader();
      for (let at = 0; at < bytes.length; at += size) push(bytes.subarray(at, at + size));
      expect(messages).toEqual(sent);
      expect(faults).toEqual([]);
    }
  });

  test('with another magic stop the reading, once', () => {
    const { messages, faults, push } = reader();
    push(Buffer.from('HTTP/1.1 200 OK'));
    push(bytesOf({ a: 1 }));
    expect(faults).toEqual(['a frame does not begin as one']);
    expect(messages).toEqual([]);
  });

  test('of a byte over 32 MiB are refused by their header alone', () => {
    const { faults, push } = reader();
    const header = bytesOf({}).subarray(0, 8);
    header.writeUInt32LE(MAX_FRAME_BYTES + 1, 4);
    push(header);
    expect(faults).toEqual([`a frame of ${MAX_FRAME_BYTES + 1} bytes is over the limit of ${MAX_FRAME_BYTES}`]);
    expect(encodeFrame('x'.repeat(MAX_FRAME_BYTES))).toBeUndefined();
    expect(encodeFrame('x'.repeat(MAX_FRAME_BYTES - 2))).toBeDefined();
  });

  test('that hold no JSON, or no UTF-8, are faults', () => {
    for (const body of [Buffer.from('{"a":'), Buffer.from([0x22, 0xff, 0x22])]) {
      const { faults, push } = reader();
      const frame = Buffer.concat([bytesOf({}).subarray(0, 8), body]);
      frame.writeUInt32LE(body.length, 4);
      push(frame);
      expect(faults).toEqual(['a frame does not hold JSON']);
    }
  });

  test('that come in many pieces are put together once', () => {
    const { messages, push } = reader();
    const bytes = bytesOf('y'.repeat(8 * 1024 * 1024));
    const joined = Buffer.concat;
    let copied = 0;
    Buffer.concat = ((list: readonly Uint8Array[], length?: number) => {
      copied += list.reduce((sum, each) => sum + each.length, 0);
      return joined(list, length);
    }) as typeof Buffer.concat;
    try {
      for (let at = 0; at < bytes.length; at += 1_024) push(bytes.subarray(at, at + 1_024));
    } finally {
      Buffer.concat = joined;
    }
    expect(messages).toHaveLength(1);
    expect(copied).toBeLessThan(bytes.length + 4_096);
  });
});
