import { mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A user's machine in a temporary folder: a home, a state folder and a working directory, all new. */
export interface Place {
  readonly home: string;
  /** `ODEK_HOME`. */
  readonly state: string;
  readonly work: string;
  /** Nothing of this process but where programs are found. */
  readonly env: Readonly<Record<string, string>>;
  /** Writes the operator's `config.json`. */
  configure(config: object): Promise<void>;
  /** Writes a file below the working directory. */
  file(path: string, content: string): Promise<string>;
  remove(): Promise<void>;
}

export async function createPlace(): Promise<Place> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'odek-e2e-')));
  const [home, state, work] = [join(root, 'home'), join(root, 'state'), join(root, 'work')];
  for (const folder of [home, state, work]) await mkdir(folder, { mode: 0o700 });
  return {
    home,
    state,
    work,
    env: { PATH: process.env.PATH ?? '/usr/bin:/bin', HOME: home, ODEK_HOME: state, TMPDIR: root, LANG: 'C.UTF-8' },
    configure: (config) => writeFile(join(state, 'config.json'), JSON.stringify(config), { mode: 0o600 }),
    file: async (path, content) => {
      const target = join(work, path);
      await writeFile(target, content);
      return target;
    },
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
