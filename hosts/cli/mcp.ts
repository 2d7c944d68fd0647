import type { CommandContext } from './command.ts';

/** `odek mcp`: without an action odek is the server. */
export async function run(context: CommandContext): Promise<number> {
  const { serveMcp } = await import('../mcp/main.ts');
  return serveMcp(context);
}
