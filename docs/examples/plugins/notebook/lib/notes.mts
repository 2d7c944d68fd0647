import type { PluginContext } from 'odek/plugin';

const KEY = 'notes';

/** The notes that are kept, the oldest first. */
export async function readNotes({ storage }: Pick<PluginContext, 'storage'>): Promise<readonly string[]> {
  const held = await storage.get(KEY);
  return Array.isArray(held) ? held.map(String) : [];
}

export async function writeNotes({ storage }: Pick<PluginContext, 'storage'>, notes: readonly string[]): Promise<void> {
  await storage.set(KEY, notes);
}
