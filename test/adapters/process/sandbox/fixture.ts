import { mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createProcessRunner } from '../../../../adapters/process/node.ts';
import { openBwrap } from '../../../../adapters/process/sandbox/bwrap.ts';
import type { Sandbox, SandboxOptions } from '../../../../adapters/process/sandbox/sandbox.ts';
import type { ProcessResult } from '../../../../ports/process.ts';

/** What stands in files that no command may read. */
export const CANARY = 'canary-7d20f3-sandbox';
export const never = new AbortController().signal;

/** A home with secrets, a state folder in it and a working directory in it, all new, and a real sandbox over them. */
export interface SandboxPlace {
  readonly root: string;
  readonly home: string;
  readonly state: string;
  readonly work: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly sandbox: Sandbox;
  /** Runs a command in the sandbox, in the working directory. */
  run(command: string, signal?: AbortSignal): Promise<ProcessResult>;
  /** Opens another sandbox over the same folders; closed with the place. */
  open(changes: Partial<SandboxOptions>): Promise<Sandbox>;
  close(): Promise<void>;
}

export async function sandboxPlace(changes: Partial<SandboxOptions> = {}): Promise<SandboxPlace> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'odek-sandbox-')));
  const home = join(root, 'home');
  const [state, work, other] = [join(home, '.odek'), join(home, 'project'), join(home, 'other')];
  for (const folder of [state, work, other, join(home, '.ssh')]) await mkdir(folder, { recursive: true });
  for (const file of [join(state, 'secrets.env'), join(other, 'notes'), join(home, '.ssh', 'id_ed25519'), join(home, '.netrc')]) {
    await writeFile(file, CANARY);
  }
  await writeFile(join(home, '.gitconfig'), '[user]\n\tname = Ada Example\n\temail = ada@example.org\n[credential]\n\thelper = store\n');
  const environment = {
    ...process.env,
    HOME: home,
    PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
    MY_TOKEN: CANARY,
    PLAIN: CANARY,
  };
  const options: SandboxOptions = { environment, workspace: work, stateDir: state, home, network: false, readonly: false };
  const opened: Sandbox[] = [];
  const open = async (more: Partial<SandboxOptions>): Promise<Sandbox> => {
    const made = await openBwrap({ ...options, ...more });
    opened.push(made);
    return made;
  };
  const sandbox = await open(changes);
  return {
    root,
    home,
    state,
    work,
    environment,
    sandbox,
    open,
    run: (command, signal = never) => runIn(sandbox, environment, changes.workspace ?? work, command, signal),
    async close() {
      for (const each of opened) await each.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

export function runIn(
  launcher: Sandbox,
  environment: SandboxPlace['environment'],
  cwd: string,
  command: string,
  signal: AbortSignal = never,
): Promise<ProcessResult> {
  return createProcessRunner({ environment, launcher }).run({ command, cwd, maxBytes: 100_000, timeoutMs: 30_000 }, signal);
}

/** Living processes of this machine whose arguments hold `word`, seen from outside of any sandbox. */
export async function countWith(word: string): Promise<number> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async (pid) => {
      const text = await readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '');
      // The shells that carry the command line as an argument do not count.
      return text.startsWith('sleep\0') && text.split('\0').includes(word);
    }),
  );
  return found.filter(Boolean).length;
}

let made = 0;

/** A duration that no other `sleep` of the machine has. */
export function uniqueMinute(): string {
  made += 1;
  return `60.${process.pid}${made}${Math.floor(Math.random() * 1e6)}`;
}
