import { describe, expect, it } from 'vitest';
import { memoryTools } from './fixture.ts';

describe('file_info', () => {
  it('tells kind, size, mode and time of a file', async () => {
    const { fs, call } = memoryTools();
    fs.put('a.sh', 'text', { mode: 0o750, modifiedAt: Date.UTC(2026, 0, 2) });
    expect(await call('file_info', { path: 'a.sh' })).toEqual({
      value: { path: 'a.sh', kind: 'file', size: 4, mode: '0750', modified: '2026-01-02T00:00:00.000Z' },
      failed: false,
      source: 'file_info:a.sh',
    });
  });

  it('tells where a link leads instead of following it', async () => {
    const { fs, call } = memoryTools();
    fs.put('target', 'text');
    fs.link('link', 'target');
    expect((await call('file_info', { path: 'link' })).value).toMatchObject({ kind: 'link', leads_to: '/project/target' });
  });
});
