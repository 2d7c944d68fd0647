import { describe, expect, it } from 'vitest';
import { argsPreview } from '../../../../hosts/cli/render/tool-preview.ts';

describe('the preview of a call', () => {
  it.each([
    ['{"timeout":5,"command":"npm test\\n  --silent"}', 'npm test --silent'],
    ['{"content":"long","path":"a/b.ts"}', 'a/b.ts'],
    ['{"pattern":"TODO","path":"src"}', 'TODO in src'],
    ['{"files":["a","b"]}', 'a b'],
    ['{"verb":"create","steps":[]}', 'create'],
    ['{"nested":{"a":1}}', '{"nested":{"a":1}}'],
    ['{}', ''],
    ['{"path": "unfinis', '{"path": "unfinis'],
    ['[1]', '[1]'],
  ])('of %s is %j', (args, preview) => expect(argsPreview(args, undefined, 60)).toBe(preview));

  it('fits the width, in cells', () => {
    expect(argsPreview('{"path":"漢字漢字.ts"}', undefined, 6)).toBe('漢字…');
    expect(argsPreview(JSON.stringify({ command: 'x'.repeat(1_000_000) }), undefined, 10)).toHaveLength(10);
  });

  it('shows no control character of a hostile argument', () => {
    expect(argsPreview(JSON.stringify({ command: 'a\u001b[2J\u202eb' }), undefined, 60)).toBe('a\\x1b[2J\\u202eb');
  });

  it('takes the audit summary where the arguments are not told', () => {
    expect(argsPreview(undefined, { path: ['a', 'b'] }, 60)).toBe('a b');
    expect(argsPreview(undefined, { argv0: 'git' }, 60)).toBe('git');
    expect(argsPreview(undefined, undefined, 60)).toBe('');
  });
});
