import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSseParser, type SseEvent } from '../../../../adapters/llm/wire/sse.ts';

function parse(text: string, cuts: readonly number[] = []): SseEvent[] {
  const bytes = Buffer.from(text);
  const parser = createSseParser();
  const events: SseEvent[] = [];
  let at = 0;
  for (const cut of [...cuts, bytes.length]) {
    events.push(...parser.push(bytes.subarray(at, cut)));
    at = cut;
  }
  return [...events, ...parser.end()];
}

describe('the SSE parser', () => {
  it.each([
    ['data: a\n\ndata: b\n\n', [{ data: 'a' }, { data: 'b' }]],
    ['data: a\r\n\r\ndata: b\r\n\r\n', [{ data: 'a' }, { data: 'b' }]],
    ['data: a\r\rdata: b\r\r', [{ data: 'a' }, { data: 'b' }]],
    ['data: a\r\n\ndata: b\n\r\n', [{ data: 'a' }, { data: 'b' }]],
    ['data: a\ndata: b\n\n', [{ data: 'a\nb' }]],
    ['data:a\n\ndata:  b\n\n', [{ data: 'a' }, { data: ' b' }]],
    ['event: ping\ndata: a\n\ndata: b\n\n', [{ name: 'ping', data: 'a' }, { data: 'b' }]],
    [': note\n\nid: 1\nretry: 2\n\ndata: a\n\n', [{ data: 'a' }]],
    ['data\n\n', [{ data: '' }]],
    ['event: ping\n\ndata: a\n\n', [{ data: 'a' }]],
    ['\ufeffdata: a\n\n', [{ data: 'a' }]],
    ['data: a', [{ data: 'a' }]],
    ['data: a\n', [{ data: 'a' }]],
    ['', []],
  ])('reads %j', (text, want) => {
    expect(parse(text)).toEqual(want);
  });

  it('gives the same events for any way of cutting the bytes', () => {
    const line = fc.constantFrom('data: ü🎉', 'data:', ': c', 'event: x', 'data: {"a":1}', 'id: 1');
    const end = fc.constantFrom('\n', '\r\n', '\r');
    const stream = fc.array(fc.tuple(fc.option(line, { nil: '' }), end), { maxLength: 20 }).map((lines) => lines.flat().join(''));
    const property = fc.property(stream, fc.array(fc.nat(), { maxLength: 12 }), (text, numbers) => {
      const size = Buffer.byteLength(text);
      const cuts = numbers.map((number) => number % (size + 1)).sort((a, b) => a - b);
      expect(parse(text, cuts)).toEqual(parse(text));
    });
    fc.assert(property, { numRuns: 500 });
  });
});
