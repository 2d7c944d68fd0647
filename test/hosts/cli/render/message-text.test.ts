import { describe, expect, it } from 'vitest';
import { createMessageText } from '../../../../hosts/cli/render/message-text.ts';

describe('message text', () => {
  it('shows a message that was not streamed whole, and one that was streamed not again', () => {
    const text = createMessageText();
    expect(text.whole(1, 'all')).toBe('all');
    text.delta(2, 'some ');
    text.delta(2, 'text');
    expect(text.whole(2, 'some text')).toBe('');
    expect(text.unshown('some text')).toBe('');
  });

  it('shows what was added to a streamed message', () => {
    const text = createMessageText();
    text.delta(1, 'done.');
    expect(text.whole(1, 'done.\n\nNotice.')).toBe('\n\nNotice.');
    expect(text.unshown('done.\n\nNotice.')).toBe('');
    expect(text.unshown('done.\n\nNotice. More.')).toBe(' More.');
  });

  it('does not repeat a message of which a part was masked after it was streamed', () => {
    const text = createMessageText();
    text.delta(1, 'the key is abc');
    expect(text.whole(1, 'the key is [masked]')).toBe('');
    expect(text.unshown('the key is [masked]')).toBe('');
  });

  it('shows an answer that is another text than the last message', () => {
    const text = createMessageText();
    text.delta(1, 'working');
    text.whole(1, 'working');
    expect(text.unshown('[partial]\n\nhalf')).toBe('[partial]\n\nhalf');
  });

  it('does not repeat an answer whose message never arrived', () => {
    const text = createMessageText();
    text.delta(1, 'x');
    expect(text.unshown('x')).toBe('');
  });
});
