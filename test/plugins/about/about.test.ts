import { describe, expect, it } from 'vitest';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import about from '../../../plugins/about/index.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import type { ToolCatalogue } from '../../../ports/tool-catalogue.ts';
import { configViewHarness } from '../../contracts/config-view.broken.ts';

const SECRET = 'canary-0123456789abcdef';
const catalogue: ToolCatalogue = {
  describe: () => ({
    tools: [{ name: 'shell', owner: 'shell', description: 'x'.repeat(500) }],
    filter: { disabled: ['patch'] },
    servers: [{ name: 'docs', state: 'connected', target: 'npx docs --key=[REDACTED]', tools: 3 }],
  }),
};
const services = { config: configViewHarness().make(SECRET), catalogue };

function tools() {
  const registry = createToolRegistry();
  about.apply({ tools: registry.registrar('about'), ...services }, {});
  return registry;
}

async function call(name: string, input: object) {
  const exec = { signal: new AbortController().signal, callId: 'c', args: input, workspace: '/w', dataDir: '/d' };
  const result = (await tools()
    .get(name)
    ?.spec.execute(input as never, exec)) as ToolResult;
  return { value: JSON.parse(result.content) as Record<string, unknown>, failed: result.failed === true };
}

describe('the tools about odek itself', () => {
  it('are told to a model in at most 600 bytes each and touch nothing', () => {
    for (const definition of tools().definitions())
      expect(Buffer.byteLength(JSON.stringify(definition)), definition.name).toBeLessThanOrEqual(600);
    expect(
      tools()
        .list()
        .map(({ spec }) => spec.effects?.({} as never)),
    ).toEqual([{}, {}]);
  });

  it('config_view shows the configuration or a section of it, without secrets', async () => {
    expect((await call('config_view', { section: 'tools' })).value).toEqual({ 'tools.disabled': ['shell'] });
    const all = await call('config_view', {});
    expect(all.value.max_iterations).toBe(7);
    expect(JSON.stringify(all.value)).not.toContain(SECRET);
    expect((await call('config_view', { section: '' })).value).toEqual(all.value);
  });

  it('config_view names the sections there are', async () => {
    expect(await call('config_view', { section: 'nothing' })).toMatchObject({
      failed: true,
      value: { error: expect.stringMatching(/no section "nothing"; there are: .*tools.*/) },
    });
  });

  it('list_tools shows tools, filter and servers', async () => {
    const { value } = await call('list_tools', {});
    expect(value).toEqual({
      tools: [{ name: 'shell', owner: 'shell', description: `${'x'.repeat(119)}…` }],
      filter: { enabled: 'all', disabled: ['patch'] },
      mcp_servers: [{ name: 'docs', state: 'connected', target: 'npx docs --key=[REDACTED]', tools: 3 }],
    });
  });
});
