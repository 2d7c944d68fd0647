import type { PluginBoard } from '../../plugin-host/board.ts';
import type { PluginCommand, PluginCommands } from '../../plugin-host/commands.ts';
import type { ReplCommands } from './commands.ts';

/** The prompt of a plugin, with whose it is: it is never taken for the person's own words. */
export function submittedTurn(origin: string, prompt: string): string {
  return `[submitted by ${origin}]\n${prompt}`;
}

function commandOf(
  command: PluginCommand,
  commands: PluginCommands,
  place: { readonly workspace: string; sessionId(): string | undefined },
): ReplCommands[string] {
  const { name, description, argumentHint, origin } = command;
  return {
    summary: `${argumentHint === undefined ? '' : `${argumentHint}  `}${description} (${origin})`,
    async run(rest, print, signal) {
      const sessionId = place.sessionId();
      const answer = await commands.run(name, {
        args: rest,
        workspace: place.workspace,
        signal,
        ...(sessionId !== undefined && { sessionId }),
      });
      if (answer.text !== '' || answer.kind !== 'submit') print(`[${origin}] ${answer.kind === 'error' ? 'error: ' : ''}${answer.text}`);
      return answer.kind === 'submit' && answer.prompt !== undefined ? { turn: submittedTurn(origin, answer.prompt) } : 'stay';
    },
  };
}

/** Slash commands of plugins, as they are now. The person types them, so nobody is asked. */
export function pluginCommands(board: PluginBoard, place: { readonly workspace: string; sessionId(): string | undefined }): ReplCommands {
  const commands = board.commands();
  if (commands === undefined) return {};
  return Object.fromEntries(commands.list().map((command) => [command.name, commandOf(command, commands, place)]));
}
