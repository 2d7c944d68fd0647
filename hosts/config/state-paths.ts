import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import type { StatePaths } from './types.ts';

/** Where odek keeps its state: `$ODEK_HOME` (relative to `cwd`), else `.odek` in the home folder. Touches no disk. */
export function statePaths(env: Readonly<Record<string, string | undefined>>, cwd: string, home?: string): StatePaths {
  const chosen = env.ODEK_HOME;
  const folder = chosen === undefined || chosen === '' ? join(home ?? env.HOME ?? homedir(), '.odek') : resolve(cwd, chosen);
  return {
    home: folder,
    configFile: join(folder, 'config.json'),
    secretsFile: join(folder, 'secrets.env'),
    projectFile: resolve(cwd, 'odek.json'),
    database: join(folder, 'odek.db'),
    identityFile: join(folder, 'IDENTITY.md'),
    jobsFolder: join(folder, 'jobs'),
    serversFolder: join(folder, 'mcp-servers'),
    replHistory: join(folder, 'repl_history'),
  };
}
