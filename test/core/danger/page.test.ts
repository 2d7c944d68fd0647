import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { DANGER_CLASSES } from '../../../ports/approval.ts';
import { classesOf } from './line.ts';

const PAGE = readFileSync(new URL('../../../docs/danger-classes.md', import.meta.url), 'utf8');

const EXAMPLES = [...PAGE.matchAll(/^```classes\n([\s\S]*?)^```$/gm)]
  .flatMap(([, block]) => (block ?? '').split('\n'))
  .flatMap((line) => {
    const [, classes, command] = /^([a-z_]+(?: [a-z_]+)*) {2,}(.+)$/.exec(line) ?? [];
    return line === '' ? [] : [[command ?? line, classes ?? 'unreadable example'] as const];
  });

describe('the page about danger classes', () => {
  it('explains each class', () => {
    for (const cls of DANGER_CLASSES) expect(PAGE).toContain(`**${cls}**`);
    expect(EXAMPLES.length).toBeGreaterThan(45);
  });

  it.each(EXAMPLES)('says of %j what it is: %s', (command, classes) => {
    expect(classesOf(command).join(' ')).toBe(classes);
  });
});
