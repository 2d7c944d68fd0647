import { readFileSync } from 'node:fs';

/** Commands with the classes they must get, by the worst of them. */
export const CORPUS = JSON.parse(readFileSync(new URL('corpus.json', import.meta.url), 'utf8')) as Readonly<
  Record<string, readonly (readonly [command: string, classes: string])[]>
>;
