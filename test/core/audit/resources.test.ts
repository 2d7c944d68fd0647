import { describe, expect, it } from 'vitest';
import { argumentText, isSource, resourcesIn } from '../../../core/audit/resources.ts';

describe('the places that a text names', () => {
  it.each([
    ['see https://a.example/x?y=1, and (http://b.example).', ['https://a.example/x?y=1', 'http://b.example']],
    ['cat /etc/passwd; ls /tmp/a-b/.', ['/etc/passwd', '/tmp/a-b/']],
    ['open README.md, then src/main.ts.', ['README.md', 'main.ts']],
    ['read ~/.ssh/id_rsa', ['~/.ssh/id_rsa']],
    ['README.md readme.MD', ['README.md']],
    ['and/or 1.5 3/4 e.g. a. b', ['e.g']],
    ['no places here', []],
    ['s3://bucket/key ssh://h/x', ['s3://bucket/key', 'ssh://h/x']],
    ['"C.d","/a/b"', ['C.d', '/a/b']],
  ])('of %j are %j', (text, expected) => {
    expect(resourcesIn(text)).toEqual(expected);
  });

  it('are at most 4096, and found in bounded time', () => {
    expect(resourcesIn(Array.from({ length: 9000 }, (_, at) => `f${at}.txt`).join(' '))).toHaveLength(4096);
    for (const part of ['a.', 'a-', '/', '/a', 'http://', '~', '.a', '/a.b ']) {
      const from = performance.now();
      resourcesIn(part.repeat(1_200_000 / part.length));
      expect(performance.now() - from).toBeLessThan(5000);
    }
  });

  it('are looked for in the strings of arguments, however deep, and in text that is no JSON', () => {
    expect([...resourcesIn(argumentText('{"a":"x\\ny.txt","b":[{"c":"/etc/hosts"}],"n":1}'))].sort()).toEqual(['/etc/hosts', 'y.txt']);
    expect(resourcesIn(argumentText('{"path":"a.txt'))).toEqual(['a.txt']);
  });

  it('are the source itself when they are it, or the end of its path', () => {
    expect(isSource('README.md', '/w/readme.md')).toBe(true);
    expect(isSource('https://A.example/x', 'https://a.example/x')).toBe(true);
    expect(isSource('me.md', '/w/readme.md')).toBe(false);
  });
});
