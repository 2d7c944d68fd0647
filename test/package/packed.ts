/** The package as somebody else gets it: packed from a copy of the repository, installed elsewhere. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const TIMEOUT_MS = 120_000;

export interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** An environment without settings of odek or of npm's own parent, on the pinned Node. */
export function plainEnv(extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  const kept = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !/^(ODEK_|npm_|NODE_OPTIONS|VITEST)/.test(entry[0]),
  );
  return {
    ...Object.fromEntries(kept),
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH ?? ''}`,
    NO_COLOR: '1',
    ...extra,
  };
}

export function run(program: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  return new Promise((done) => {
    const settings = { cwd: options.cwd, env: plainEnv(options.env), timeout: TIMEOUT_MS, maxBuffer: 64 * 1024 * 1024 };
    const child = execFile(program, args, settings, (error, stdout, stderr) => {
      done({ code: error === null ? 0 : typeof error.code === 'number' ? error.code : -1, stdout, stderr });
    });
    child.stdin?.end();
  });
}

export async function succeed(program: string, args: readonly string[], options: RunOptions): Promise<Ended> {
  const ended = await run(program, args, options);
  if (ended.code !== 0) throw new Error(`${program} ${args.join(' ')} ended with ${ended.code}:\n${ended.stdout}\n${ended.stderr}`);
  return ended;
}

/** Copies what the repository tracks or would track into `target`, with this tree's installed packages linked. */
export async function copyRepository(target: string): Promise<void> {
  const { stdout } = await succeed('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: ROOT });
  for (const file of stdout.split('\0').filter((name) => name !== '' && existsSync(join(ROOT, name)))) {
    await mkdir(dirname(join(target, file)), { recursive: true });
    await cp(join(ROOT, file), join(target, file));
  }
  await symlink(join(ROOT, 'node_modules'), join(target, 'node_modules'));
}

export interface Installed {
  /** A folder with odek in its `node_modules`. */
  readonly folder: string;
  /** The command, as npm linked it. */
  readonly command: string;
  /** Paths in the package, sorted. */
  readonly files: readonly string[];
  /** Bytes of the tarball. */
  readonly size: number;
  remove(): Promise<void>;
}

/** Packs the repository (which builds it) and installs the tarball into an empty project, without a network. */
export async function installPackage(): Promise<Installed> {
  const base = await mkdtemp(join(tmpdir(), 'odek-package-'));
  const [copy, folder] = [join(base, 'repository'), join(base, 'elsewhere')];
  await copyRepository(copy);
  await mkdir(folder);
  const packed = await succeed('npm', ['pack', '--json', '--pack-destination', base], { cwd: copy });
  // npm prints the build's own output first, then the list.
  const list = JSON.parse(packed.stdout.slice(packed.stdout.indexOf('[\n'))) as readonly [
    { readonly filename: string; readonly size: number; readonly files: readonly { readonly path: string }[] },
  ];
  await writeFile(join(folder, 'package.json'), '{"name":"elsewhere","private":true,"type":"module"}\n');
  await succeed('npm', ['install', '--offline', '--no-audit', '--no-fund', join(base, list[0].filename)], { cwd: folder });
  return {
    folder,
    command: join(folder, 'node_modules/.bin/odek'),
    files: list[0].files.map((file) => file.path).sort(),
    size: list[0].size,
    remove: () => rm(base, { recursive: true, force: true }),
  };
}
