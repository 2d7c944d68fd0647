import { describe, expect, it } from 'vitest';
import { createEventReader } from '../../../adapters/mcp/sse.ts';

function read(chunks: readonly string[], maxBytes = 1000) {
  const events: { event: string; data: string; bytes: number }[] = [];
  const tooLong: number[] = [];
  const reader = createEventReader({ maxBytes, onEvent: (event) => events.push(event), onTooLong: (bytes) => tooLong.push(bytes) });
  for (const chunk of chunks) reader.push(Buffer.from(chunk));
  reader.end();
  return { events, tooLong, reader };
}

describe('events of a stream', () => {
  it('have a name, or are messages', () => {
    expect(read(['event: ping\ndata: 1\n\ndata: 2\n\n']).events).toEqual([
      { event: 'ping', data: '1', bytes: 1 },
      { event: 'message', data: '2', bytes: 1 },
    ]);
  });

  it('join their data lines, and need no blank after the colon', () => {
    expect(read(['data:{"a":\ndata: 1}\n\n']).events).toMatchObject([{ data: '{"a":\n1}' }]);
  });

  it('end their lines in LF, CR LF or CR', () => {
    for (const ending of ['\n', '\r\n', '\r']) {
      expect(read([`data: a${ending}${ending}data: b${ending}${ending}`]).events.map(({ data }) => data)).toEqual(['a', 'b']);
    }
  });

  it('are not made by comments, by fields that are unknown or by data that is empty', () => {
    expect(read(['\ufeff: hello\n\nunknown: x\n\nid: 7\ndata:\n\ndata\n\n']).events).toEqual([]);
  });

  it('tell their last id and how long to wait', () => {
    const { reader } = read(['id: a\ndata: x\n\nid: b\nretry: 250\nretry: soon\ndata: y\n\ndata: z\n\n']);
    expect(reader.lastId).toBe('b');
    expect(reader.retryMs).toBe(250);
  });

  it('count without their last empty line', () => {
    expect(read(['data: a\n\ndata: b']).events.map(({ data }) => data)).toEqual(['a', 'b']);
  });

  it('over the limit end the reading, on one line and on many', () => {
    expect(read([`data: ${'x'.repeat(10)}\n\n`], 10)).toMatchObject({ events: [{ bytes: 10 }], tooLong: [] });
    expect(read([`data: ${'x'.repeat(60)}\n\n`, 'data: a\n\n'], 10)).toMatchObject({ events: [] });
    expect(read([`data: ${'x'.repeat(60)}\n\n`], 10).tooLong).toHaveLength(1);
    const many = read(['data: xxxx\n'.repeat(10), '\n', 'data: a\n\n'], 30);
    expect(many.events).toEqual([]);
    expect(many.tooLong).toEqual([32]);
  });
});
