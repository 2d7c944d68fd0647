import Schema from '@deepseek-ai/schemastery';
import type { PluginContext } from 'odek/plugin';
import { readNotes } from './lib/notes.mts';

export const inject = ['tools', 'commands', 'storage'];

/** Every entry is given the same settings, and names those that it reads. */
export const Config = Schema.object({ shown: Schema.natural().min(1).max(100).default(10) });

export function apply(ctx: PluginContext, config: { readonly shown: number }): void {
  const find = async (word: string): Promise<string> => {
    const notes = await readNotes(ctx);
    const found = notes.filter((note) => note.toLowerCase().includes(word.toLowerCase())).slice(-config.shown);
    return found.length === 0 ? 'There is no such note.' : found.map((note) => `- ${note}`).join('\n');
  };
  ctx.tools.register<{ word: string }>({
    name: 'notebook_find',
    description: 'Finds notes of earlier sessions that hold a word.',
    parameters: {
      type: 'object',
      properties: { word: { type: 'string', maxLength: 100 } },
      required: ['word'],
      additionalProperties: false,
    },
    execute: ({ word }) => find(word),
  });
  ctx.commands.register({
    name: 'notes',
    description: 'Show notes, or those that hold a word.',
    argumentHint: '[word]',
    handler: ({ args }) => find(args),
  });
}
