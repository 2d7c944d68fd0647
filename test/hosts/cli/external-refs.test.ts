import { describe, expect, it } from 'vitest';
import { externalRefsOf, mergeExternalRefs } from '../../../hosts/cli/external-refs.ts';

const NOW = Date.UTC(2026, 0, 2);

describe('--external-ref', () => {
  it('takes all fields, or the short form', () => {
    expect(
      externalRefsOf(['kind=ci-run,uri=https://ci.example.test/runs/1?a=b,c,created_by=me,read_only=false', 'ticket=T-1'], NOW),
    ).toEqual([
      {
        kind: 'ci-run',
        uri: 'https://ci.example.test/runs/1?a=b,c',
        created_by: 'me',
        read_only: false,
        created_at: '2026-01-02T00:00:00.000Z',
      },
      { kind: 'ticket', uri: 'T-1', created_by: 'cli', read_only: true, created_at: '2026-01-02T00:00:00.000Z' },
    ]);
  });

  it('keeps one of several with the same kind, uri and creator', () => {
    const once = externalRefsOf(['a=x', 'a=x', 'a=y'], NOW);
    expect(once.map((ref) => ref.uri)).toEqual(['x', 'y']);
    expect(mergeExternalRefs(once, externalRefsOf(['a=y', 'b=y'], NOW + 1))).toHaveLength(3);
  });

  it('takes each field up to its limit', () => {
    const [kind, uri, creator] = ['k'.repeat(64), 'u'.repeat(2048), 'c'.repeat(128)];
    const given = `kind=${kind},uri=${uri},created_by=${creator}`;
    expect(externalRefsOf([given], NOW)).toMatchObject([{ kind, uri, created_by: creator, read_only: true }]);
    expect(externalRefsOf(['a-b_9=x'], NOW)).toMatchObject([{ kind: 'a-b_9' }]);
  });

  it.each([
    [`${'k'.repeat(65)}=x`, 'kind is "kkk'],
    ['Kind=x', 'unknown field "Kind"'],
    ['kind=,uri=x,created_by=me', 'kind is ""'],
    [`kind=ok,uri=x,created_by=${'c'.repeat(129)}`, 'created_by has 129 characters'],
    ['kind=ok,uri=a\u0085b,created_by=me', 'control characters'],
    ['kind=ok,uri=a\nb,created_by=me', 'control characters'],
    ['kind=Bad Kind,uri=x,created_by=me', 'kind is "Bad Kind"'],
    ['kind=ok,uri=,created_by=me', 'uri has 0 characters'],
    [`kind=ok,uri=${'x'.repeat(2049)},created_by=me`, 'uri has 2049 characters'],
    ['kind=ok,uri=a\u0007b,created_by=me', 'control characters'],
    ['kind=ok,uri=x', 'created_by has 0 characters'],
    ['kind=ok,uri=x,created_by=me,read_only=maybe', 'read_only is "maybe"'],
    ['nonsense', 'each part is key=value'],
  ])('refuses %j and says why', (text, why) => {
    expect(() => externalRefsOf([text], NOW)).toThrow(why);
  });

  it('is nothing when the flag was not given', () => {
    expect(externalRefsOf(undefined, NOW)).toEqual([]);
  });
});
