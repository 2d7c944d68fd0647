import { stripTypeScriptTypes } from 'node:module';

/** Which code takes types away. Another one may leave other bytes, so that what it made is made anew. */
export const TRANSFORMER = `strip-types ${process.versions.amaro ?? process.version}`;

/** Text without types, of the same lines and columns; or where it cannot be had. */
export type Stripped = { readonly text: string } | { readonly line: number; readonly problem: string };

const UNSUPPORTED = /^TypeScript (.+) is not supported in strip-only mode$/;

/** Takes the types out of the text of an `.mts` file by node's own rules: only syntax that can be erased. */
export function stripTypes(text: string): Stripped {
  try {
    return { text: withoutWarning(() => stripTypeScriptTypes(text, { mode: 'strip' })) };
  } catch (error) {
    const { message, stack = '' } = error as Error;
    const line = Number(/^[^\n]*?:(\d+)$/m.exec(stack.split('\n')[0] ?? '')?.[1] ?? 1);
    const construct = UNSUPPORTED.exec(message)?.[1];
    const problem =
      construct === undefined
        ? `cannot be read: ${message}`
        : `uses a TypeScript ${construct}, which is more than types that can be erased; write it in JavaScript`;
    return { line, problem };
  }
}

/** Node says once that stripping is an experiment. Which of its rules count here is told at the review. */
function withoutWarning<Result>(work: () => Result): Result {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}
