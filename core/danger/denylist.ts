import { programName } from './programs/index.ts';

/** Options that stand between a tool and its verb: `true` when a value follows. */
const GLOBAL_OPTIONS: Readonly<Record<string, Readonly<Record<string, boolean>>>> = {
  git: {
    '-C': true,
    '-c': true,
    '--git-dir': true,
    '--work-tree': true,
    '--namespace': true,
    '--exec-path': false,
    '--config-env': true,
    '--super-prefix': true,
    '--attr-source': true,
  },
  docker: {
    '-H': true,
    '--host': true,
    '-c': true,
    '--context': true,
    '--config': true,
    '-l': true,
    '--log-level': true,
    '--tlscacert': true,
    '--tlscert': true,
    '--tlskey': true,
  },
  podman: {
    '-c': true,
    '--connection': true,
    '--url': true,
    '--log-level': true,
    '--root': true,
    '--runroot': true,
    '--storage-driver': true,
    '--identity': true,
  },
  nerdctl: {
    '-n': true,
    '--namespace': true,
    '-a': true,
    '--address': true,
    '-H': true,
    '--host': true,
    '--snapshotter': true,
    '--data-root': true,
  },
  kubectl: {
    '-n': true,
    '--namespace': true,
    '--context': true,
    '--cluster': true,
    '--user': true,
    '--kubeconfig': true,
    '-s': true,
    '--server': true,
    '--token': true,
    '--as': true,
    '--as-group': true,
    '-v': true,
  },
  helm: {
    '-n': true,
    '--namespace': true,
    '--kube-context': true,
    '--kubeconfig': true,
    '--kube-token': true,
    '--kube-apiserver': true,
    '--registry-config': true,
    '--repository-config': true,
  },
  gh: { '-R': true, '--repo': true, '--hostname': true },
  npm: {
    '--prefix': true,
    '-C': true,
    '--registry': true,
    '-w': true,
    '--workspace': true,
    '--loglevel': true,
    '--userconfig': true,
    '--cache': true,
  },
  cargo: { '--config': true, '-Z': true, '-C': true, '--color': true, '--manifest-path': true },
  terraform: { '-chdir': true },
  tofu: { '-chdir': true },
};

/**
 * The denylist entry that is a token prefix of one of a line's commands. The program is compared by its
 * name without folder; options before a tool's verb are skipped; a word known only at run time matches
 * nothing. `rm -rf /` is neither `rm -rf /tmp` nor `rm -fr /`.
 */
export function denylistedBy(commands: readonly (readonly string[])[], denylist: readonly string[]): string | undefined {
  const forms = commands.flatMap((words) => [words, withoutGlobals(words)]);
  return denylist.find((entry) => {
    const wanted = wordsOf(entry);
    return wanted.length > 0 && forms.some((words) => startsWith(words, wanted));
  });
}

function wordsOf(entry: string): readonly string[] {
  return entry
    .replace(/['"\\]/g, '')
    .split(/\s+/)
    .filter((word) => word !== '');
}

function startsWith(words: readonly string[], wanted: readonly string[]): boolean {
  return wanted.every((word, index) => (index === 0 ? plain(words[0] ?? '') === plain(word) : words[index] === word));
}

/** The name as written, versions kept: only folder and case are taken off. */
function plain(program: string): string {
  return program.slice(program.lastIndexOf('/') + 1).toLowerCase();
}

function withoutGlobals(words: readonly string[]): readonly string[] {
  const name = programName(words[0] ?? '');
  const options = Object.hasOwn(GLOBAL_OPTIONS, name) ? GLOBAL_OPTIONS[name] : undefined;
  if (options === undefined) return words;
  let at = 1;
  while (words[at]?.startsWith('-') === true && words[at] !== '--') {
    const takesNext = Object.hasOwn(options, words[at] ?? '') && options[words[at] ?? ''] === true;
    at += takesNext ? 2 : 1;
  }
  return [words[0] ?? '', ...words.slice(at)];
}
