import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../adapters/clock/system.ts';
import { askConsent, chosenOf } from '../../../hosts/mcp-client/consent.ts';

describe('an answer', () => {
  it.each([
    ['y', 3, [1, 2, 3]],
    [' YES ', 2, [1, 2]],
    ['2', 3, [2]],
    ['1,3', 3, [1, 3]],
    ['3 1-2', 3, [1, 2, 3]],
    ['2-2,2', 3, [2]],
    ['', 3, []],
    ['n', 3, []],
    ['yes please', 3, []],
    ['all', 3, []],
    ['-1', 3, []],
  ])('%j of %d approves %j', (text, count, expected) => {
    expect(chosenOf(text, count)).toEqual(expected);
  });

  it.each(['0', '4', '1-4', '3-1', '1,,9', '1-2-3'])('%j has to be given again', (text) => {
    expect(chosenOf(text, 3)).toBeUndefined();
  });
});

describe('a question', () => {
  const seat = () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    let shown = '';
    output.setEncoding('utf8').on('data', (text: string) => {
      shown += text;
    });
    const terminal = () => ({ input, output });
    return { input, shown: () => shown, terminal };
  };
  const clock = createSystemClock();
  const request = { card: 'Three tools', count: 3, question: 'Approve all 3?' };
  const never = new AbortController().signal;

  it('shows everything first, and takes the line that follows', async () => {
    const { input, shown, terminal } = seat();
    const asked = askConsent(request, never, clock, terminal);
    input.write('1-2\n');
    expect(await asked).toEqual([1, 2]);
    expect(shown()).toBe('\nThree tools\nApprove all 3? [y/N, or numbers such as 1,3-5] ');
  });

  it('is asked again after a number that is not there, three times at most', async () => {
    const { input, shown, terminal } = seat();
    const asked = askConsent(request, never, clock, terminal);
    input.write('9\n9\n9\n1\n');
    expect(await asked).toEqual([]);
    expect(shown().split('Numbers go from 1 to 3.')).toHaveLength(4);
  });

  it('means no when the input ends', async () => {
    const { input, terminal } = seat();
    const asked = askConsent({ ...request, count: 1 }, never, clock, terminal);
    input.end();
    expect(await asked).toEqual([]);
  });

  it('means no after ten minutes of silence', async () => {
    const { terminal } = seat();
    const waits: number[] = [];
    const impatient = {
      after(ms: number, run: () => void) {
        waits.push(ms);
        queueMicrotask(run);
        return () => {};
      },
    };
    expect(await askConsent(request, never, impatient, terminal)).toEqual([]);
    expect(waits).toEqual([600_000]);
  });

  it('is given up when the signal fires', async () => {
    const { terminal } = seat();
    const cancel = new AbortController();
    const asked = askConsent(request, cancel.signal, clock, terminal);
    cancel.abort();
    await expect(asked).rejects.toMatchObject({ code: 'cancelled' });
    await expect(askConsent(request, cancel.signal, clock, terminal)).rejects.toMatchObject({ code: 'cancelled' });
  });
});
