import { realpathSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { OdekError } from '../../../ports/errors.ts';
import { isWithin } from './readable.ts';

/** A working directory without links, which has to lie in `workspace`. Rejects with `OdekError` `spawn_failed`. */
export async function placeInside(cwd: string, workspace: string, command: string): Promise<string> {
  const found = await stat(cwd).catch(() => undefined);
  const path = found?.isDirectory() === true ? realpathSync(cwd) : undefined;
  if (path !== undefined && isWithin(path, workspace)) return path;
  const why = path === undefined ? 'there is no such folder' : `the sandbox holds ${workspace} alone`;
  throw new OdekError('spawn_failed', `the command could not be started in ${cwd}: ${why}`, { value: command });
}
