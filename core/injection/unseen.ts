/** Tag characters outside the flags that are spelled with them. */
const TAGS = /(?<![\u{1f3f4}\u{e0000}-\u{e007f}])[\u{e0000}-\u{e007f}]/u;
/** Characters of no width inside a Latin word, or many in a row. */
const INSIDE_WORD = /[A-Za-z][\u034f\u200b-\u200d\u2060-\u2064\ufeff\u180e]{1,64}[A-Za-z]/u;
const IN_A_ROW = /[\u034f\u200b-\u200d\u2060-\u2064\ufeff\u180e\u115f\u1160\u3164\uffa0]{4}/u;
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{4}/u;
const OVERRIDES = /[\u202d\u202e]/u;
const DIRECTIONS = /[\u202a\u202b\u2066-\u2068]/u;
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;
const ASCII_ONLY = /^\p{ASCII}*$/u;

/**
 * Where characters stand that hide or reorder text; undefined when there are none. What scripts and
 * emoji need (joiners, flags, a byte order mark, directions beside right-to-left letters) is no hit.
 */
export function hiddenCharacters(text: string): number | undefined {
  if (ASCII_ONLY.test(text)) return undefined;
  for (const pattern of [TAGS, INSIDE_WORD, IN_A_ROW, SELECTORS, OVERRIDES]) {
    const match = pattern.exec(text);
    if (match !== null) return match.index;
  }
  const direction = DIRECTIONS.exec(text);
  return direction !== null && !RIGHT_TO_LEFT.test(text) ? direction.index : undefined;
}
