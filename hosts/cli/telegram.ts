import type { CommandContext } from './command.ts';

/** `odek telegram`: a chat with the agent, and its scheduler. */
export async function run(context: CommandContext): Promise<number> {
  return (await import('../telegram/main.ts')).runTelegram(context);
}
