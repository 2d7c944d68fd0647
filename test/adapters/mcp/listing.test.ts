import { afterEach, describe, expect, it } from 'vitest';
import { live, type McpSetup, setUpMcp } from './setup.ts';

let setup: McpSetup;
afterEach(() => setup.close());

async function list(mode: string) {
  setup = setUpMcp();
  const connection = await setup.connect(setup.stdio({ mode }));
  const { tools, warnings } = await connection.listTools(live());
  return { names: tools.map(({ name }) => name), tools, warnings };
}

describe('a list of tools', () => {
  it('goes round in circles once only', async () => {
    const { names, warnings } = await list('cycle');
    expect(names).toHaveLength(16);
    expect(warnings).toEqual([
      expect.stringContaining('is listed twice'),
      ...Array.from({ length: 7 }, () => expect.any(String)),
      expect.stringContaining('repeats its cursor'),
    ]);
  });

  it('ends with an empty cursor', async () => {
    expect(await list('empty-cursor')).toMatchObject({ names: ['t0', 't1', 't2'], warnings: [] });
  });

  it('keeps what came before a page that failed, and says so', async () => {
    const { names, warnings } = await list('bad-page');
    expect(names).toEqual(['t0', 't1', 't2', 't3']);
    expect(warnings).toEqual([expect.stringMatching(/page 3 .* failed, 4 tools are known: .*page 3 is broken/)]);
  });

  it('loses only the tools that are none', async () => {
    const { names, tools, warnings } = await list('odd');
    expect(names).toEqual(['echo', 'no-schema']);
    expect(tools[1]?.inputSchema).toEqual({ type: 'object' });
    expect(warnings).toEqual([
      'a tool that is not an object was left out',
      'a tool without a name was left out',
      'the tool "list-schema" was left out: its inputSchema is not an object',
    ]);
  });

  it('that is no list is told', async () => {
    await expect(list('no-list')).rejects.toMatchObject({ code: 'mcp_protocol_error', message: expect.stringContaining('not a list') });
  });
});
