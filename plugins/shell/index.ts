import { definePlugin } from '../../ports/plugin.ts';
import { shellTool } from './shell.ts';

/** Commands in the working directory. */
export default definePlugin({
  name: 'shell',
  inject: ['tools', 'process'],
  apply({ tools, process }) {
    tools.register(shellTool(process));
  },
});
