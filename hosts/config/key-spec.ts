/** What a project's `odek.json` may do with a key. */
export type ProjectRule =
  /** Set it. */
  | 'set'
  /** Only make it smaller than the operator's value; of a switch, only turn it off. */
  | 'lower'
  /** Of a switch, only turn it on. */
  | 'raise'
  /** Set it once a person has agreed. */
  | 'ask'
  /** Only add to the operator's list. */
  | 'append'
  /** Nothing: the value is dropped with a warning. */
  | 'ignored'
  /** Nothing: prices decide what a budget measures. */
  | 'rejected';

/** One configuration key. Loading, `odek config`, flags, completion and the docs table all read this. */
export interface KeySpec {
  /** Dotted; `<name>` stands for a name that the operator chooses. */
  readonly key: string;
  readonly type: 'string' | 'url' | 'number' | 'integer' | 'boolean' | 'choice' | 'list' | 'object';
  readonly summary: string;
  readonly default?: string | number | boolean;
  readonly unit?: string;
  readonly min?: number;
  readonly max?: number;
  /** With a warning instead of a refusal, a value is raised to `min`, or held within the whole range. */
  readonly clamps?: 'least' | 'range';
  readonly choices?: readonly string[];
  /** Other spellings of a choice. */
  readonly aliases?: Readonly<Record<string, string>>;
  /** What an unknown choice becomes, with a warning, instead of being refused. */
  readonly fallback?: string;
  /** What a string or a list's entry must look like, and how to say so. */
  readonly pattern?: { readonly test: RegExp; readonly says: string };
  /** Of a list its entries, of a string itself: may be written as a number. */
  readonly numbers?: boolean;
  readonly env?: string;
  /** Flag name without dashes. */
  readonly flag?: string;
  readonly project: ProjectRule;
  readonly secret?: boolean;
  /** `$` is taken literally: values that are commands. */
  readonly literal?: boolean;
  /** Members of an object in which `$` is taken literally. */
  readonly literalMembers?: readonly string[];
}

export const ONE_WORD = { test: /^[\x21-\x7e]{1,256}$/, says: '1 to 256 printable characters without spaces' } as const;
export const NOT_EMPTY = { test: /\S/, says: 'text that is not empty' } as const;
