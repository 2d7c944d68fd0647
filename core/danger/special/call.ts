import type { Field } from '../fields.ts';
import type { Inspection } from '../findings.ts';
import type { ProgramRule } from '../rules.ts';
import type { Scope } from '../scope.ts';

/** One program to judge by hand. */
export interface Call {
  readonly name: string;
  readonly rule: ProgramRule;
  readonly args: readonly Field[];
  readonly scope: Scope;
  /** What it can read as input, where the line says so. */
  readonly stdin: Field | undefined;
  readonly inspection: Inspection;
}

/** Gives what the program prints, where that can be known. */
export type Special = (call: Call) => Field | undefined;
