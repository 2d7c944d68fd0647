import { definePlugin, defineTool } from '../../ports/plugin.ts';
import { DESCRIPTION, PARAMETERS } from './schema.ts';

/** Characters of a reply: the largest render (8,000 bytes, and its truncation marker) with room for a remark. */
const MAX_RESULT_CHARS = 16_000;

/** Registers `plan`. State, rules and errors are core's (DECISIONS 19); this is its face. */
export default definePlugin({
  name: 'plan-tool',
  inject: ['tools', 'plan'],
  apply({ tools, plan }) {
    tools.register(
      defineTool<unknown>({
        name: 'plan',
        description: DESCRIPTION,
        parameters: PARAMETERS,
        ownsValidation: true,
        maxResultChars: MAX_RESULT_CHARS,
        execute: (input, { rawArgs, runId }) => plan.execute(rawArgs ?? input, runId),
        effects: () => ({}),
      }),
    );
  },
});
