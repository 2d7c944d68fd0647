/** Names of slash commands that no plugin may have. */
export const BUILT_IN_COMMANDS: ReadonlySet<string> = new Set([
  'exit',
  'quit',
  'help',
  'info',
  'plugin',
  'clear',
  'compact',
  'model',
  'mcp',
  'new',
  'plan',
  'resume',
  'session',
  'skill',
  'skills',
]);
