import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { serverOf } from '../../../hosts/plugin-host/offers.ts';
import { bundle } from './harness.ts';

const offered = (definition: Readonly<Record<string, unknown>>, more: Parameters<typeof bundle>[1] = {}) =>
  serverOf(bundle('hello', more), 'eyes', definition, createSha256());
const at = (url: string) => ({ type: 'streamable-http', url });

describe('a server that the code of a plugin registers', () => {
  it.each([{ type: 'stdio', command: 'sh', args: ['-c', 'id'] }, { type: 'stdio', command: 'node' }, { command: 'node' }])(
    'starts no program outside of its process: %o',
    (definition) => {
      expect(offered(definition, { services: ['network'], hosts: ['mcp.example'] })).toMatch(
        /would start a program that no review showed; put it into mcp\.json/,
      );
    },
  );

  it('reaches the hosts that a review named, and no others', () => {
    const granted = { services: ['network'], hosts: ['mcp.example'] };
    expect(offered(at('https://mcp.example/mcp'), granted)).toMatchObject({ name: 'hello_eyes' });
    for (const url of ['https://evil.example/mcp', 'https://mcp.example:8443/mcp'])
      expect(offered(at(url), granted)).toMatch(/which no review named/);
    expect(offered(at('https://mcp.example/mcp'), { hosts: ['mcp.example'] })).toMatch(/which no review named/);
  });
});
