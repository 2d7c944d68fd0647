import { describe, expect, it } from 'vitest';
import { excerptOf, extractDigest } from '../../../core/context/extract.ts';
import { delimitResult } from '../../../core/results/shape.ts';
import { utf8Length } from '../../../core/results/utf8.ts';
import { wrapUntrusted } from '../../../core/untrusted/wrapper.ts';
import type { Message, ToolOutcome } from '../../../ports/message.ts';

function call(name: string, args: object, result: string, outcome: ToolOutcome = 'completed'): Message[] {
  const boxed = delimitResult(name, 'abcd', wrapUntrusted(result, name, '0123456789abcdef'));
  return [
    { role: 'assistant', content: '', toolCalls: [{ id: '1', name, arguments: JSON.stringify(args) }] },
    { role: 'tool', callId: '1', name, outcome, content: boxed },
  ];
}

describe('notes made without a model', () => {
  it('tell turns, calls, what was said, files, and what failed', () => {
    const digest = extractDigest([
      { role: 'user', content: 'now the\nsecond thing' },
      ...call('read_file', { path: 'src/a.ts', limit: 10 }, 'text'),
      { role: 'assistant', content: 'I keep the old parser.' },
      ...call('shell', { command: 'make test' }, 'error: exit status 2', 'failed'),
      ...call('step', { number: 4 }, 'ok'),
    ]);
    expect(digest).toEqual({
      Task: ['now the second thing'],
      Done: ['read_file src/a.ts', 'step {"number":4}'],
      Decisions: ['I keep the old parser.'],
      'Files and symbols': ['src/a.ts'],
      'Errors still open': ['shell make test: failed: error: exit status 2'],
      Next: [],
    });
  });

  it('do not call an error open that a later call solved', () => {
    const failed = call('shell', { command: 'make' }, 'no', 'failed');
    const worked = call('shell', { command: 'make' }, 'yes');
    expect(extractDigest([...failed, ...worked])['Errors still open']).toEqual([]);
    expect(extractDigest([...worked, ...failed])['Errors still open']).toEqual(['shell make: failed: no']);
  });

  it('survive arguments that are no JSON', () => {
    const messages: Message[] = [{ role: 'assistant', content: '', toolCalls: [{ id: '1', name: 't', arguments: '{broken' }] }];
    expect(extractDigest(messages).Done).toEqual(['t {broken']);
  });
});

describe('an excerpt for the side call', () => {
  it('names the tools that were called', () => {
    const toolCalls = ['a', 'b'].map((name) => ({ id: name, name, arguments: '{}' }));
    expect(excerptOf({ role: 'assistant', content: 'look', toolCalls })).toBe('assistant: [called tools: a, b] look');
  });

  it('is a result without its box, at most 1,000 bytes of it', () => {
    const [, result] = call('read_file', { path: 'a' }, 'ä'.repeat(2_000));
    const text = excerptOf(result as Message);
    expect(text.startsWith('tool read_file (completed): ää')).toBe(true);
    expect(text.endsWith('ä…')).toBe(true);
    expect(utf8Length(text)).toBeLessThanOrEqual(1_000 + 40);
    expect(text).not.toContain('untrusted_content');
  });
});
