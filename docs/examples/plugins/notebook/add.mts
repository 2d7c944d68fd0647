import Schema from '@deepseek-ai/schemastery';
import type { PluginContext } from 'odek/plugin';
import { readNotes, writeNotes } from './lib/notes.mts';

export const inject = ['tools', 'storage'];

/** `plugins.notebook.config` in config.json; what is left out gets its default. */
export const Config = Schema.object({ limit: Schema.natural().min(1).max(1000).default(100) });

export function apply(ctx: PluginContext, config: { readonly limit: number }): void {
  ctx.tools.register<{ text: string }>({
    name: 'notebook_add',
    description: 'Keeps a note for later sessions.',
    parameters: {
      type: 'object',
      properties: { text: { type: 'string', minLength: 1, maxLength: 1000 } },
      required: ['text'],
      additionalProperties: false,
    },
    async execute({ text }) {
      const notes = [...(await readNotes(ctx)), text].slice(-config.limit);
      await writeNotes(ctx, notes);
      return `Kept. There are ${notes.length} notes.`;
    },
  });
}
