import type { PluginContext } from 'odek/plugin';

/** The services that apply uses; one that is not named here is not there. */
export const inject = ['tools', 'commands'];

const greet = (name: string): string => `Hello, ${name}!`;

export function apply(ctx: PluginContext): void {
  ctx.tools.register<{ name: string }>({
    name: 'greeting_greet',
    description: 'Greets somebody by name.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1, maxLength: 100 } },
      required: ['name'],
      additionalProperties: false,
    },
    execute: ({ name }) => greet(name),
  });
  ctx.commands.register({
    name: 'greet',
    description: 'Greet somebody.',
    argumentHint: '[name]',
    handler: ({ args }) => ({ kind: 'success', text: greet(args || 'world') }),
  });
}
