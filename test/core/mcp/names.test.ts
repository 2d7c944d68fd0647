import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSha256 } from '../../../adapters/hash/sha256.ts';
import { checkServerName, McpRegistrationError, mcpToolName, mcpToolNames } from '../../../core/mcp/names.ts';

const hash = createSha256();
const free = { holderOf: () => undefined };

function thrown(work: () => unknown): McpRegistrationError {
  try {
    work();
  } catch (error) {
    if (error instanceof McpRegistrationError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}

describe('names of MCP servers and tools', () => {
  it('are joined by two underscores', () => {
    expect(mcpToolName('playwright', 'navigate', hash)).toEqual({
      server: 'playwright',
      tool: 'navigate',
      qualified: 'playwright__navigate',
      registered: 'playwright__navigate',
    });
  });

  it.each(['', 'a b', 'ä', 'a.b', 'a__b', '__', 'x'.repeat(65), 'a\n', '../x', 'a/b'])(
    'end the start when the server is called %j',
    (name) => {
      const error = thrown(() => checkServerName(name));
      expect(error).toMatchObject({ code: 'mcp_invalid_name', server: name.slice(0, 80), tool: undefined });
      expect(error.message).toContain(error.rule);
    },
  );

  it.each(['', 'a b', 'a.b', 'a__b', 'x'.repeat(65)])('end the start when a tool is called %j, naming server, tool and rule', (tool) => {
    const error = thrown(() => mcpToolNames('fs', ['good', tool], free, hash));
    expect(error).toMatchObject({ code: 'mcp_invalid_name', server: 'fs', tool });
    expect(error.message).toContain('"fs"');
    expect(error.message).toContain(error.rule);
  });

  it('may have 64 characters each, hyphens, and single underscores at their ends', () => {
    for (const name of ['a', '-', '_', 'a_', '7', 'x'.repeat(64)]) expect(() => mcpToolName(name, name, hash)).not.toThrow();
  });

  it('shorten in the same way each time where a model API would not take them, and keep the beginnings', () => {
    const server = 'a-rather-long-name-of-a-server-of-somebody';
    const { registered, qualified } = mcpToolName(server, 'a-rather-long-name-of-a-tool', hash);
    expect(qualified.length).toBeGreaterThan(64);
    expect(registered).toMatch(/^a-rather-long-name-of-a-s[a-z-]*__a-rather-long-name-of-a-t[a-z-]*_[0-9a-f]{8}$/);
    expect(mcpToolName(server, 'a-rather-long-name-of-a-tool', hash).registered).toBe(registered);
    expect(mcpToolName(server, 'a-rather-long-name-of-a-tooL', hash).registered).not.toBe(registered);
  });

  it('always become a name that every model API takes', () => {
    const name = fc.stringMatching(/^[A-Za-z0-9-]{1,64}$/);
    fc.assert(
      fc.property(name, name, (server, tool) => {
        const { registered } = mcpToolName(server, tool, hash);
        expect(registered).toMatch(/^[A-Za-z0-9_-]{1,64}$/);
        expect(registered).toContain('__');
      }),
    );
  });

  it('end the start when another tool has the name', () => {
    const taken = { holderOf: (name: string) => (name === 'a___b' ? 'tool "_b" of the MCP server "a"' : undefined) };
    const error = thrown(() => mcpToolNames('a_', ['b'], taken, hash));
    expect(error).toMatchObject({ code: 'mcp_name_taken', server: 'a_', tool: 'b', value: 'a___b' });
    expect(error.message).toContain('tool "_b" of the MCP server "a" has');
  });

  it('end the start when a server names a tool twice', () => {
    expect(thrown(() => mcpToolNames('a', ['b', 'c', 'b'], free, hash))).toMatchObject({ code: 'mcp_name_taken', server: 'a', tool: 'b' });
  });
});
