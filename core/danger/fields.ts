import { RUN_TIME } from './place.ts';

/** One word as a program gets it. */
export interface Field {
  /** `RUN_TIME` stands for each piece that is only known at run time. */
  readonly text: string;
  /** An unquoted wildcard is in it. */
  readonly glob: boolean;
  /** It came out of an expansion: as a program's name it is no literal. */
  readonly made: boolean;
  /** As input: the file whose content it is, as it was written. */
  readonly file?: string;
}

export const UNKNOWN_FIELD: Field = { text: RUN_TIME, glob: false, made: true };

export function literal(text: string): Field {
  return { text, glob: false, made: false };
}

export function isKnown({ text }: Field): boolean {
  return !text.includes(RUN_TIME);
}
