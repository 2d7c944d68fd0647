import { definePlugin } from '../../ports/plugin.ts';
import { base64Tool } from './base64.ts';
import { checksumTool } from './checksum.ts';
import { diffTool } from './diff.ts';
import { headTailTool } from './head-tail.ts';
import { jsonQueryTool } from './json-query.ts';
import { treeTool } from './tree.ts';

/** Looking at files without changing them. */
export default definePlugin({
  name: 'inspect',
  inject: ['tools', 'fs'],
  apply({ tools, fs }) {
    for (const tool of [treeTool, diffTool, jsonQueryTool, checksumTool, headTailTool, base64Tool]) tools.register(tool(fs));
  },
});
