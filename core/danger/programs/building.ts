import type { DangerClass } from '../../../ports/approval.ts';
import { each, type ProgramRule, type ProgramTable } from '../rules.ts';

const CODE: readonly DangerClass[] = ['code_execution'];
const INSTALLS: readonly DangerClass[] = ['install', 'network_egress'];
const PUBLISHES: ProgramRule = { adds: ['network_upload'], because: 'publishes' };
const RUNS: ProgramRule = { adds: CODE, because: 'runs code of the project' };
const GETS: ProgramRule = { adds: INSTALLS, because: 'installs packages' };
const ASKS: ProgramRule = { adds: ['network_egress'], because: 'asks a registry' };
const LOOKS: ProgramRule = {};
const DELETES: ProgramRule = { adds: ['local_write'], because: 'deletes what it built' };

const NODE_VERBS: ProgramTable = {
  ...each('install i ci add in ins inst isntall update up upgrade dedupe link rebuild install-test it install-ci-test cit', {
    ...GETS,
    options: { '-g --global --location': '+system_write', '--prefix -C': 'write', '--script-shell': 'line' },
  }),
  ...each('uninstall remove rm un unlink prune', {
    adds: ['install'],
    because: 'changes the installed packages',
    options: { '-g --global': '+system_write' },
  }),
  ...each(
    'test t tst run run-script rum urn start stop restart build dev exec x create init innit rebuild workspace workspaces foreach',
    RUNS,
  ),
  ...each('exec x dlx create', {
    adds: [...INSTALLS, 'code_execution'],
    because: 'gets a package and runs it',
    options: { '-c --call': 'line' },
  }),
  ...each('ls list ll la why outdated explain licenses prefix root bin version -v', LOOKS),
  ...each('docs repo help bugs issues home', { adds: CODE, because: 'opens a program that the project can name' }),
  version: { adds: ['local_write', 'code_execution'], because: 'changes the version and runs scripts' },
  ...each('view info show search audit ping whoami fund outdated', ASKS),
  pack: { adds: ['local_write', 'code_execution'], because: 'builds the package' },
  ...each('publish unpublish deprecate dist-tag', PUBLISHES),
  ...each('owner access team adduser login logout token org hook star', {
    adds: ['network_upload', 'system_write'],
    because: 'changes the registry or the login',
  }),
  ...each('config set get pkg set-script cache', { adds: ['system_write', 'persistence'], because: 'changes settings that run later' }),
};

const NODE_MANAGER: ProgramRule = {
  verbs: NODE_VERBS,
  bare: ['install', 'network_egress'],
  options: {
    '--prefix -C --dir --cwd --userconfig --globalconfig': 'folder+system_write',
    '-w --workspace --filter -F --loglevel --registry': 'value',
    '--script-shell --node-options': 'line',
  },
};

const PYTHON_PACKAGES: ProgramTable = {
  ...each('install download wheel sync lock add update upgrade', {
    ...GETS,
    options: {
      '-r -c -e --requirement --constraint --editable': 'read',
      '-t --target --prefix --root': 'write',
      '-i --index-url --extra-index-url': 'value',
    },
  }),
  ...each('uninstall remove', { adds: ['install'], because: 'changes the installed packages' }),
  ...each('list show freeze check help inspect env tree', { options: { '--log': 'write', '-r --requirement --cert': 'read' } }),
  ...each('search index', ASKS),
  ...each('config cache', { adds: ['system_write'], because: 'changes settings' }),
  ...each('publish upload', PUBLISHES),
  ...each('run tool x build shell venv init', RUNS),
};

/** Compilers, package managers, runners of builds and tests, containers. */
export const BUILDING: ProgramTable = {
  ...each(
    'make gmake bmake ninja cmake ctest meson bazel bazelisk buck gradle gradlew mvn mvnw ant sbt lein rake rails bundle bin/rails just task invoke tox nox pytest py.test jest vitest mocha ava karma cypress playwright tsc tsx ts-node esbuild vite webpack rollup parcel next nuxt turbo nx lerna eslint biome oxlint stylelint ruff black isort mypy pyright flake8 pylint bandit phpunit rspec rubocop swift swiftc xcodebuild xcrun kotlinc kotlin scala groovy dotnet msbuild nuget mix elixir iex erl ghc runghc stack cabal ocaml dune opam nim zig crystal julia octave gcc g++ cc c++ clang clang++ rustc rustfmt gofmt javac java jar ld as gdb lldb valgrind strace ltrace perf protoc buf sphinx-build mkdocs jekyll hugo pre-commit act concurrently nodemon pm2 forever knip husky lint-staged commitlint semantic-release sea',
    RUNS,
  ),
  ...each('gofmt rustfmt', { operands: 'write' }),
  npm: { ...NODE_MANAGER, bare: ['safe'] },
  ...each('pnpm bun', { ...NODE_MANAGER, others: CODE }),
  // Whatever it is asked, it may run the version of itself that the project holds.
  yarn: { ...NODE_MANAGER, others: CODE, adds: CODE, because: 'may run a file of the project in its own place' },
  ...each('npx pnpx bunx', {
    adds: [...INSTALLS, 'code_execution'],
    because: 'gets a package and runs it',
    options: { '-c --call': 'line' },
  }),
  corepack: GETS,
  ...each('pip pipx pip3 poetry pipenv pdm hatch rye conda mamba micromamba easy_install', { verbs: PYTHON_PACKAGES }),
  uv: { verbs: { ...PYTHON_PACKAGES, pip: { verbs: PYTHON_PACKAGES }, python: GETS } },
  uvx: { adds: [...INSTALLS, 'code_execution'], because: 'gets a package and runs it' },
  virtualenv: { operands: 'write', adds: CODE, because: 'runs code' },
  ...each('apt apt-get aptitude', {
    verbs: {
      ...each('install reinstall update upgrade dist-upgrade full-upgrade build-dep', {
        adds: ['install', 'network_egress', 'system_write'],
        because: 'changes the packages of the system',
      }),
      ...each('remove purge autoremove clean autoclean', {
        adds: ['install', 'system_write'],
        because: 'changes the packages of the system',
      }),
      ...each('list show search policy depends rdepends', LOOKS),
      ...each('download source', { adds: ['network_egress', 'local_write'], because: 'stores what it gets' }),
    },
    options: { '-o -c --option --config-file': 'value+code_execution', '-t': 'value' },
    bare: ['unknown'],
  }),
  ...each('apt-cache dpkg-query', LOOKS),
  ...each(
    'dpkg rpm dnf yum zypper pacman apk brew port snap flatpak nix nix-env nix-shell emerge pkg pkgutil installer softwareupdate choco winget scoop',
    { adds: ['install', 'network_egress', 'system_write'], because: 'changes the packages of the system' },
  ),
  ...each('gem', {
    verbs: {
      ...each('install update', GETS),
      uninstall: { adds: ['install'], because: 'changes the installed packages' },
      ...each('list info search environment', LOOKS),
      ...each('push yank', PUBLISHES),
      ...each('build exec', RUNS),
    },
  }),
  composer: {
    verbs: { ...each('install update require create-project', GETS), ...each('show validate run-script exec', RUNS) },
  },
  cargo: {
    verbs: {
      ...each('build b check c test t run r bench doc d clippy fmt fix expand miri', RUNS),
      ...each('install add update fetch vendor', GETS),
      ...each('uninstall remove', { adds: ['install'], because: 'changes the installed packages' }),
      ...each('tree metadata', RUNS),
      ...each('version help locate-project pkgid', LOOKS),
      ...each('search', ASKS),
      clean: DELETES,
      ...each('new init', { adds: ['local_write'], because: 'writes a project', operands: 'write' }),
      ...each('publish login logout owner yank', PUBLISHES),
    },
    options: { '--config': 'value+code_execution', '-C': 'folder', '--color -Z': 'value' },
    bare: ['safe'],
  },
  rustup: { adds: INSTALLS, because: 'installs tools' },
  go: {
    verbs: {
      ...each('build run test vet generate tool install fix', { ...RUNS, options: { '-exec -toolexec -vettool': 'line', '-o': 'write' } }),
      install: { adds: [...INSTALLS, 'code_execution'], because: 'gets a package and builds it' },
      ...each('get mod work', { ...GETS }),
      ...each('version env list doc help', {
        options: { '-w -u': '+system_write', '-export -compiled': '+code_execution', '-toolexec -exec': 'line' },
      }),
      fmt: { adds: ['local_write'], because: 'formats files' },
      clean: DELETES,
    },
  },
  ...each('docker podman nerdctl', {
    bare: ['safe'],
    options: { '-H --host -c --context --config --tlscacert --tlscert --tlskey -l --log-level --connection --url': 'value+system_write' },
    verbs: {
      inspect: { adds: ['system_write'], because: 'shows the environments of containers' },
      ...each('ps images version info logs stats top port history events diff search', {
        options: { '-f --filter --format -n --tail --since': 'value' },
      }),
      ...each('run exec start restart attach create compose buildx build stack swarm service', {
        adds: ['code_execution', 'system_write'],
        because: 'runs code in containers',
      }),
      ...each('pull', { adds: INSTALLS, because: 'gets an image' }),
      ...each('push login logout', { adds: ['network_upload'], because: 'sends an image or a login' }),
      ...each('rm rmi kill stop pause', { adds: ['system_write'], because: 'ends or deletes containers' }),
      ...each('cp save export load import commit tag', { adds: ['system_write'], because: 'moves data in or out of containers' }),
      ...each('system volume network container image builder', {
        verbs: {
          ...each('ls list inspect df info', LOOKS),
          ...each('prune rm', { adds: ['destructive'], because: 'deletes containers, images or volumes' }),
        },
        bare: ['safe'],
        others: ['system_write'],
      }),
    },
  }),
  'docker-compose': { adds: ['code_execution', 'system_write'], because: 'runs code in containers' },
  ...each('kubectl oc', {
    options: {
      '-n --namespace --context --cluster --user -o --output -l --selector': 'value',
      '--kubeconfig': 'read+code_execution',
      '-s --server --token --as': 'value+network_upload',
    },
    verbs: {
      ...each('get describe logs top version api-resources api-versions cluster-info explain events', {
        special: 'kubectl',
        adds: ['network_egress'],
        because: 'asks the cluster',
      }),
      ...each('delete drain', { adds: ['network_egress', 'destructive'], because: 'deletes in the cluster' }),
      ...each('apply create patch replace edit scale rollout set label annotate expose run autoscale taint cordon uncordon', {
        adds: ['network_upload', 'system_write'],
        because: 'changes the cluster',
      }),
      ...each('exec attach cp debug port-forward proxy', {
        adds: ['network_upload', 'code_execution'],
        because: 'runs code or moves data in the cluster',
      }),
      config: { adds: ['system_write'], because: 'changes which cluster is used, or shows its secrets' },
    },
  }),
  helm: {
    options: { '-n --namespace --kube-context': 'value', '--post-renderer': 'script', '--kubeconfig': 'read+code_execution' },
    verbs: {
      ...each('list ls status history show search version template lint', { adds: ['network_egress'], because: 'asks the cluster' }),
      get: { adds: ['network_egress', 'system_write'], because: 'shows what a release was given, secrets included' },
      ...each('install upgrade rollback repo pull push dependency', {
        adds: ['network_upload', 'system_write'],
        because: 'changes the cluster',
      }),
      ...each('uninstall delete', { adds: ['network_egress', 'destructive'], because: 'deletes in the cluster' }),
      ...each('plugin', RUNS),
    },
  },
  ...each('terraform tofu', {
    options: { '-chdir': 'folder' },
    verbs: {
      ...each('version fmt validate providers graph', { adds: CODE, because: 'runs providers' }),
      ...each('init get', GETS),
      ...each('plan refresh show output state console test import taint untaint workspace', {
        adds: ['network_egress', 'code_execution', 'system_write'],
        because: 'reads or changes the state',
      }),
      ...each('apply', { adds: ['network_upload', 'code_execution', 'system_write'], because: 'changes what is deployed' }),
      ...each('destroy', { adds: ['network_egress', 'destructive'], because: 'destroys what is deployed' }),
    },
  }),
  ...each('ansible ansible-playbook vagrant packer puppet chef salt', {
    adds: ['code_execution', 'network_upload', 'system_write'],
    because: 'changes machines',
  }),
};
