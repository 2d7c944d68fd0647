import { definePlugin } from '../../ports/plugin.ts';
import { listTool, outputTool, startTool, statusTool, stopTool } from './tools.ts';

/** Commands that go on while the agent works. */
export default definePlugin({
  name: 'background',
  inject: ['tools', 'jobs'],
  apply({ tools, jobs }) {
    for (const tool of [startTool, listTool, statusTool, outputTool, stopTool]) tools.register(tool(jobs));
  },
});
