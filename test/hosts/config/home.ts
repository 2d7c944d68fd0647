import { chmod, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadConfig } from '../../../hosts/config/load.ts';
import type { LoadedConfig, LoadOptions } from '../../../hosts/config/types.ts';

/** A state folder and a working directory of their own. */
export interface Home {
  readonly root: string;
  readonly state: string;
  readonly cwd: string;
  /** Writes the operator's file: an object as JSON, a text as it is. */
  global(content: object | string, mode?: number): Promise<string>;
  project(content: object | string): Promise<string>;
  secrets(content: string, mode?: number): Promise<string>;
  load(given?: Partial<Pick<LoadOptions, 'env' | 'flags' | 'tolerant'>>): Promise<LoadedConfig>;
  remove(): Promise<void>;
}

export async function makeHome(): Promise<Home> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'odek-config-')));
  const state = join(root, 'state');
  const cwd = join(root, 'work');
  await mkdir(state, { mode: 0o700 });
  await mkdir(cwd);
  const put = async (path: string, content: object | string, mode: number): Promise<string> => {
    await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
    await chmod(path, mode);
    return path;
  };
  return {
    root,
    state,
    cwd,
    global: (content, mode = 0o600) => put(join(state, 'config.json'), content, mode),
    project: (content) => put(join(cwd, 'odek.json'), content, 0o644),
    secrets: (content, mode = 0o600) => put(join(state, 'secrets.env'), content, mode),
    load: ({ env = {}, flags = {}, tolerant = false } = {}) =>
      loadConfig({ env: Object.assign(env, { ODEK_HOME: state }), cwd, flags, tolerant }),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
