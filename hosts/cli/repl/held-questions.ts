import { CancelledError } from '../../../ports/errors.ts';
import type { Consent, ConsentRequest } from '../../mcp-client/consent.ts';

/**
 * Questions that a server brings about at any time, kept away from a person who is typing an input: two readers of
 * one terminal would share its keys, and what was meant for the model would answer a question.
 */
export interface HeldQuestions {
  /** The same consent, held back while an input is read. `onHeld` is told of each that is. */
  guard(consent: Consent, onHeld: (card: string) => void): Consent;
  /** Waits for questions that are open, and holds back all others from then on. No longer than until `stop` fires. */
  hold(stop: AbortSignal): Promise<void>;
  /** Lets those that waited be asked, and waits for their answers as `hold` does. Others may be asked from then on. */
  release(stop: AbortSignal): Promise<void>;
  /** What is open is answered with no. */
  refuse(): void;
}

export function createHeldQuestions(): HeldQuestions {
  const asked = new Set<Promise<unknown>>();
  const waiting = new Set<() => void>();
  let refusal = new AbortController();
  let isHeld = false;

  const released = (signal: AbortSignal): Promise<void> => {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const abort = (): void => reject(new CancelledError());
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
    waiting.add(resolve);
    return promise.finally(() => {
      waiting.delete(resolve);
      signal.removeEventListener('abort', abort);
    });
  };

  const answers = async (stop: AbortSignal): Promise<void> => {
    const { promise: stopped, resolve } = Promise.withResolvers<unknown>();
    stop.addEventListener('abort', resolve, { once: true });
    while (asked.size > 0 && !stop.aborted) await Promise.race([Promise.allSettled(asked), stopped]);
    stop.removeEventListener('abort', resolve);
  };

  const answerOf = async (consent: Consent, request: ConsentRequest, signal: AbortSignal): Promise<readonly number[]> => {
    const { signal: refused } = refusal;
    try {
      return await consent(request, AbortSignal.any([signal, refused]));
    } catch (error) {
      if (refused.aborted && !signal.aborted) return [];
      throw error;
    }
  };

  return {
    guard(consent, onHeld) {
      const ask: Consent = async (request, signal) => {
        if (isHeld) onHeld(request.card);
        while (isHeld) await released(signal);
        const answer = answerOf(consent, request, signal);
        asked.add(answer);
        return answer.finally(() => asked.delete(answer));
      };
      return ask;
    },
    async hold(stop) {
      await answers(stop);
      isHeld = true;
    },
    async release(stop) {
      isHeld = false;
      for (const go of [...waiting]) go();
      // They ask once they have heard of it.
      await new Promise((resolve) => setImmediate(resolve));
      await answers(stop);
    },
    refuse() {
      refusal.abort();
      refusal = new AbortController();
    },
  };
}
