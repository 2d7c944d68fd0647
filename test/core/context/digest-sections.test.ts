import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DIGEST_OUTLINE, EMPTY_DIGEST, mergeDigests, note, parseDigest, renderDigest } from '../../../core/context/digest-sections.ts';
import { utf8Length } from '../../../core/results/utf8.ts';

describe('a digest', () => {
  it('has six headings', () => {
    expect(DIGEST_OUTLINE).toBe('Task:\nDone:\nDecisions:\nFiles and symbols:\nErrors still open:\nNext:');
  });

  it('is read however a model decorates it', () => {
    const text = [
      '## Task: find the bug',
      '**Done:**',
      '* looked',
      '- read a.ts',
      'Files/symbols:',
      'a.ts',
      'Errors still open: none',
      'Next:',
      '- fix it',
    ];
    expect(parseDigest(text.join('\n'))).toEqual({
      Task: ['find the bug'],
      Done: ['looked', 'read a.ts'],
      Decisions: [],
      'Files and symbols': ['a.ts'],
      'Errors still open': ['none'],
      Next: ['fix it'],
    });
  });

  it('counts what stands under no heading as done', () => {
    expect(parseDigest('All fine so far.').Done).toEqual(['All fine so far.']);
  });

  it('is the same after it was written and read again', () => {
    const line = fc
      .string({ minLength: 1, maxLength: 40 })
      .map(note)
      .filter((text) => /^[a-z0-9]/i.test(text) && !text.includes(':'));
    const lines = fc.uniqueArray(line, { maxLength: 4 });
    fc.assert(
      fc.property(lines, lines, lines, (Task, Done, Next) => {
        const digest = { ...EMPTY_DIGEST, Task, Done, Next };
        expect(parseDigest(renderDigest(digest, 100_000))).toEqual(digest);
      }),
    );
  });

  it('never takes more than its room, and gives up its oldest notes first', () => {
    const Done = Array.from({ length: 500 }, (_, index) => `step ${index}`);
    const text = renderDigest({ ...EMPTY_DIGEST, Done }, 1_000);
    expect(utf8Length(text)).toBeLessThanOrEqual(1_000);
    expect(text).toContain('- step 499');
    expect(text).not.toContain('- step 0\n');
    const any = fc.array(fc.string({ unit: 'grapheme', maxLength: 400 }).map(note), { maxLength: 30 });
    fc.assert(
      fc.property(any, any, any, fc.nat(5_000), (Task, Decisions, Next, room) => {
        expect(utf8Length(renderDigest({ ...EMPTY_DIGEST, Task, Decisions, Next }, room))).toBeLessThanOrEqual(room);
      }),
    );
  });
});

describe('merging', () => {
  it('says each note once, where it was said last', () => {
    const merged = mergeDigests({ ...EMPTY_DIGEST, Done: ['a', 'b'] }, { ...EMPTY_DIGEST, Done: ['c', 'a'] });
    expect(merged.Done).toEqual(['b', 'c', 'a']);
  });

  it('closes an error once the same call succeeded, and only then', () => {
    const earlier = { ...EMPTY_DIGEST, 'Errors still open': ['shell make: failed: exit 2', 'shell test: failed: exit 1'] };
    const merged = mergeDigests(earlier, { ...EMPTY_DIGEST, Done: ['shell make'] });
    expect(merged['Errors still open']).toEqual(['shell test: failed: exit 1']);
  });

  it('keeps the newest outlook', () => {
    const earlier = { ...EMPTY_DIGEST, Next: ['read'] };
    expect(mergeDigests(earlier, { ...EMPTY_DIGEST, Next: ['write'] }).Next).toEqual(['write']);
    expect(mergeDigests(earlier, EMPTY_DIGEST).Next).toEqual(['read']);
  });
});
