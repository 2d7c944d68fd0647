import { describe, expect, it } from 'vitest';
import { createEventQueue } from '../../../../adapters/llm/wire/event-queue.ts';

async function read(events: AsyncGenerator<number>): Promise<number[]> {
  const got: number[] = [];
  for await (const event of events) got.push(event);
  return got;
}

describe('a queue of events', () => {
  const never = (): AbortSignal => new AbortController().signal;

  it('gives what was pushed before and while it is read, in order, then its last event', async () => {
    const queue = createEventQueue<number>();
    queue.push(1);
    const reading = read(queue.events(never()));
    await Promise.resolve();
    queue.push(2);
    queue.end(3);
    expect(await reading).toEqual([1, 2, 3]);
  });

  it('gives what came before a failure, then the failure', async () => {
    const queue = createEventQueue<number>();
    queue.push(1);
    queue.fail(new Error('broken'));
    const events = queue.events(never());
    expect((await events.next()).value).toBe(1);
    await expect(events.next()).rejects.toThrow('broken');
  });

  it('is left at once when the reader is cancelled', async () => {
    const cancel = new AbortController();
    const reading = read(createEventQueue<number>().events(cancel.signal));
    cancel.abort();
    await expect(reading).rejects.toMatchObject({ code: 'cancelled' });
  });
});
