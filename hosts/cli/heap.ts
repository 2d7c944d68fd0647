import { setFlagsFromString } from 'node:v8';

/**
 * Lets the heap of a long run stay near what lives in it: left alone, it grows with the garbage of
 * many iterations. For processes that odek owns; a program that embeds odek keeps its own settings.
 */
export function keepHeapTight(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
  setFlagsFromString('--heap-growing-percent=30');
}
