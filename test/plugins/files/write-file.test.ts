import { describe, expect, it } from 'vitest';
import { memoryTools } from './fixture.ts';

describe('write_file', () => {
  it('writes the whole file and tells where', async () => {
    const { fs, call } = memoryTools();
    expect((await call('write_file', { path: 'a/b.txt', content: 'text' })).value).toEqual({ success: true, path: '/project/a/b.txt' });
    expect(fs.content('a/b.txt')).toBe('text');
  });

  it('takes 1 MiB and not a byte more', async () => {
    const { fs, call } = memoryTools();
    expect((await call('write_file', { path: 'a', content: 'é'.repeat(524_288) })).failed).toBe(false);
    const refused = await call('write_file', { path: 'b', content: `${'é'.repeat(524_288)}x` });
    expect(refused).toMatchObject({ failed: true, value: { error: expect.stringContaining('1048577 bytes, the limit is 1048576') } });
    expect(fs.content('b')).toBeUndefined();
  });
});
