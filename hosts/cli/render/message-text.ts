/** The text of a run's messages: what of it was shown while it was streamed, and what is still to be shown. */
export interface MessageText {
  /** A piece of a message, which is being shown. */
  delta(iteration: number, text: string): void;
  /** The whole message arrived. Gives what of it was not shown. */
  whole(iteration: number, content: string): string;
  /** Gives what of the run's answer was not shown. */
  unshown(answer: string): string;
}

export function createMessageText(): MessageText {
  let streamed = '';
  let iterationOfStreamed = 0;
  let last = '';

  return {
    delta(iteration, text) {
      if (iteration !== iterationOfStreamed) streamed = '';
      iterationOfStreamed = iteration;
      streamed += text;
      last = streamed;
    },
    whole(iteration, content) {
      last = content;
      const shown = iteration === iterationOfStreamed ? streamed : '';
      if (shown.trim() === '') return content;
      // Text that was streamed and then masked or corrected cannot be taken back, and is not repeated.
      return content.startsWith(shown) ? content.slice(shown.length) : '';
    },
    unshown(answer) {
      if (last.trim() === answer.trim()) return '';
      return last.trim() !== '' && answer.startsWith(last) ? answer.slice(last.length) : answer;
    },
  };
}
