/** Characters of a result that the model gets at most, whatever is configured. */
const MAX_RESULT_CHARS = 1_000_000;
/** Characters of the result itself that have their place beside the notice. */
const MIN_TEXT_CHARS = 64;
/** The longest names and the largest figure that the notice can have. */
const LONGEST_NAME = 'x'.repeat(64);
const LARGEST_FIGURE = 999_999_999;

/** What stands at the end of a result that was cut, in its exact form. */
export function truncationNotice(server: string, tool: string, observed: number, limit: number): string {
  return `[odek: result truncated — server "${server}" tool "${tool}" produced ${observed} chars, exceeding the configured max_result_chars=${limit}; the full result is available via the retained artifact references, if any]`;
}

export interface ResultLimit {
  readonly chars: number;
  /** What was changed about the configured value, and why. */
  readonly warning?: string;
}

/** `max_result_chars` of a server as it is used: at most 1,000,000, and at least the longest notice of any of its tools and 64 characters. */
export function resultLimit(server: string, configured: number): ResultLimit {
  if (configured > MAX_RESULT_CHARS) {
    return {
      chars: MAX_RESULT_CHARS,
      warning: `max_result_chars ${configured} is more than ${MAX_RESULT_CHARS}; ${MAX_RESULT_CHARS} is used`,
    };
  }
  const least = truncationNotice(server, LONGEST_NAME, LARGEST_FIGURE, MAX_RESULT_CHARS).length + MIN_TEXT_CHARS;
  if (configured >= least) return { chars: configured };
  return {
    chars: least,
    warning: `max_result_chars ${configured} has no room for a result and the notice that it was cut; ${least} is used`,
  };
}
