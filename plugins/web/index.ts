import { definePlugin } from '../../ports/plugin.ts';
import { browserTool } from './browser.ts';
import { httpRequestTool } from './http-request.ts';

/** The public web. */
export default definePlugin({
  name: 'web',
  inject: ['tools', 'http'],
  apply({ tools, http }) {
    tools.register(httpRequestTool(http));
    tools.register(browserTool(http));
  },
});
