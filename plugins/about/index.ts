import type { ConfigView } from '../../ports/config-view.ts';
import { definePlugin, defineTool, type ToolResult } from '../../ports/plugin.ts';
import type { Catalogue } from '../../ports/tool-catalogue.ts';

const MAX_RESULT_CHARS = 64_000;
const MAX_DESCRIPTION_CHARS = 120;

/** What odek is set up with. */
export default definePlugin({
  name: 'about',
  inject: ['tools', 'config', 'catalogue'],
  apply({ tools, config, catalogue }) {
    tools.register(
      defineTool<{ readonly section?: string }>({
        name: 'config_view',
        description: "odek's resolved configuration by dotted key, secrets hidden.",
        parameters: {
          type: 'object',
          properties: { section: { type: 'string', description: 'A key or a section, for example "dangerous". Default: everything' } },
        },
        maxResultChars: MAX_RESULT_CHARS,
        effects: () => ({}),
        execute: async ({ section }) => viewed(config, section),
      }),
    );
    tools.register(
      defineTool<object>({
        name: 'list_tools',
        description: 'Every tool with its owner, the filter of tools, and the state of MCP servers.',
        parameters: { type: 'object', properties: {} },
        maxResultChars: MAX_RESULT_CHARS,
        effects: () => ({}),
        execute: async () => ({ content: JSON.stringify(listed(catalogue.describe())) }),
      }),
    );
  },
});

function viewed(config: ConfigView, section: string | undefined): ToolResult {
  const view = config.view(section === '' ? undefined : section);
  if (view !== undefined) return { content: JSON.stringify(view) };
  const sections = new Set(Object.keys(config.view() ?? {}).map((key) => key.split('.')[0] ?? key));
  const error = `there is no section ${JSON.stringify(section?.slice(0, 100))}; there are: ${[...sections].join(', ')}`;
  return { content: JSON.stringify({ error }), failed: true };
}

function listed({ tools, filter, servers }: Catalogue): object {
  const short = tools.map(({ name, owner, description }) => ({ name, owner, description: head(description) }));
  return { tools: short, filter: { enabled: filter.enabled ?? 'all', disabled: filter.disabled }, mcp_servers: servers };
}

function head(description: string): string {
  const points = [...description];
  return points.length <= MAX_DESCRIPTION_CHARS ? description : `${points.slice(0, MAX_DESCRIPTION_CHARS - 1).join('')}…`;
}
