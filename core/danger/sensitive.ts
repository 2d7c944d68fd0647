import { matchesPattern } from './pattern.ts';
import { nameOf, type Place } from './place.ts';

const CREDENTIAL_NAMES = [
  '.env',
  '.env.*',
  '.envrc.private',
  '*.pem',
  '.*.pem',
  '*.key',
  '.*.key',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.kdbx',
  'id_*',
  '.netrc',
  '_netrc',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.my.cnf',
  '.htpasswd',
  '.dockercfg',
  '.git-credentials',
  '.vault-token',
  '.s3cfg',
  '.boto',
  'credentials.json',
  'credentials.toml',
  '*.env',
  '.*.env',
  'mcp_oauth.json',
  'kubeconfig',
  '*.kubeconfig',
  '*.tfstate',
  '*.tfstate.backup',
  '*.tfvars',
];
const SAMPLES = ['.env.example', '.env.sample', '.env.template', '.env.dist'];
const CREDENTIAL_FOLDERS = ['secrets', '.ssh', '.aws', '.azure', '.gnupg', '.kube', '.docker'];
/** Names to try a pattern of the shell on. */
const CREDENTIAL_PROBES = [
  '.env',
  '.env.local',
  '.env.production',
  'server.pem',
  'cert.pem',
  'private.key',
  'server.key',
  'store.p12',
  'store.pfx',
  'store.jks',
  'id_rsa',
  'id_ed25519',
  '.netrc',
  '.npmrc',
  '.pypirc',
  '.pgpass',
  '.git-credentials',
  'secrets.env',
  'prod.env',
  'kubeconfig',
  'terraform.tfstate',
  'terraform.tfvars',
];

/** Whether a file usually holds a secret. With `pattern` the path holds wildcards: whether they could find one. */
export function isCredential(path: string, pattern: boolean): boolean {
  const segments = path.toLowerCase().split('/');
  const name = segments.at(-1) ?? '';
  if (
    segments
      .slice(0, -1)
      .some((segment) => CREDENTIAL_FOLDERS.some((folder) => (pattern ? matchesPattern(segment, folder) : segment === folder)))
  )
    return true;
  if (pattern && CREDENTIAL_PROBES.some((probe) => matchesPattern(name, probe))) return true;
  return !SAMPLES.includes(name) && CREDENTIAL_NAMES.some((credential) => matchesPattern(credential, name));
}

/** Files that something runs later, by the end of their path; `~` is the home. */
const PERSISTENT = [
  '~/.bashrc',
  '~/.bash_profile',
  '~/.bash_login',
  '~/.bash_logout',
  '~/.bash_aliases',
  '~/.profile',
  '~/.zshrc',
  '~/.zshenv',
  '~/.zprofile',
  '~/.zlogin',
  '~/.zlogout',
  '~/.kshrc',
  '~/.cshrc',
  '~/.tcshrc',
  '~/.xinitrc',
  '~/.xsession',
  '~/.xprofile',
  '~/.pam_environment',
  '~/.inputrc',
  '~/.vimrc',
  '~/.gitconfig',
  '~/.npmrc',
  '~/.ssh',
  '~/.config/fish',
  '~/.config/systemd',
  '~/.config/autostart',
  '~/.config/environment.d',
  '~/.config/git',
  '~/library/launchagents',
  '/library/launchagents',
  '/library/launchdaemons',
  '/etc/profile',
  '/etc/profile.d',
  '/etc/bash.bashrc',
  '/etc/bashrc',
  '/etc/zshrc',
  '/etc/zshenv',
  '/etc/zsh',
  '/etc/environment',
  '/etc/crontab',
  '/etc/cron.d',
  '/etc/cron.hourly',
  '/etc/cron.daily',
  '/etc/cron.weekly',
  '/etc/cron.monthly',
  '/etc/anacrontab',
  '/etc/systemd',
  '/etc/init.d',
  '/etc/rc.local',
  '/etc/ld.so.preload',
  '/etc/sudoers',
  '/etc/sudoers.d',
  '/lib/systemd',
  '/usr/lib/systemd',
  '/var/spool/cron',
  '/var/spool/at',
];

/** The same inside a project, by the path's last segments. */
const PERSISTENT_IN_PROJECT = [
  ['.envrc'],
  ['.bashrc'],
  ['.bash_profile'],
  ['.profile'],
  ['.zshrc'],
  ['.zshenv'],
  ['.zprofile'],
  ['.git', 'hooks'],
  ['.git', 'config'],
  ['.husky'],
  ['.githooks'],
  ['.github', 'workflows'],
  ['.github', 'actions'],
  ['.gitlab-ci.yml'],
  ['.circleci'],
  ['.travis.yml'],
  ['.buildkite'],
  ['.drone.yml'],
  ['azure-pipelines.yml'],
  ['bitbucket-pipelines.yml'],
  ['jenkinsfile'],
  ['.pre-commit-config.yaml'],
  ['lefthook.yml'],
  ['.vscode', 'tasks.json'],
  ['.devcontainer'],
  ['.npmrc'],
  ['.yarnrc'],
  ['.yarnrc.yml'],
  ['.cargo', 'config.toml'],
];

/** Anywhere below `.git`: of modules and of linked working trees, too. */
const RUNS_IN_GIT = ['hooks', 'config', 'config.worktree'];

/** Files that are ordinary unless their content makes something run by itself. */
const SNIFFED: Readonly<Record<string, RegExp>> = {
  'package.json': /"(?:pre|post)?(?:install|prepare|pack|publish|publishonly|version|test|start|uninstall)"\s*:/i,
  'conftest.py': /autouse|pytest_configure|pytest_sessionstart|pytest_load_initial/i,
  'sitecustomize.py': /./s,
  'usercustomize.py': /./s,
};

const IGNORED = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;

/** Whether the file's content decides. */
export function isSniffed(path: string): boolean {
  return Object.hasOwn(SNIFFED, nameOf(path.toLowerCase()));
}

/** Whether writing the file makes something run later. `content` is what is written, where it is known. */
export function isPersistent(path: string, place: Place, content: string | undefined): boolean {
  // Some file systems leave such characters out when they compare names.
  const lower = path.replace(IGNORED, '').toLowerCase();
  const home = place.home?.toLowerCase();
  const fixed = PERSISTENT.some((entry) => {
    const wanted = entry.startsWith('~') ? (home === undefined ? undefined : home + entry.slice(1)) : entry;
    return wanted !== undefined && (lower === wanted || lower.startsWith(`${wanted}/`));
  });
  if (fixed) return true;
  const segments = lower.split('/');
  if (PERSISTENT_IN_PROJECT.some((wanted) => runsThrough(segments, wanted))) return true;
  // A repository's own folder can lie in another one's, and a file in its place points anywhere.
  const git = segments.indexOf('.git');
  if (git >= 0 && (git === segments.length - 1 || RUNS_IN_GIT.some((name) => segments.includes(name, git + 1)))) return true;
  const sniff = SNIFFED[nameOf(lower)];
  return sniff !== undefined && (content === undefined || sniff.test(content));
}

/** Texts that name such a file, where the name ends in an archive or a patch. */
const NAMES_PERSISTENT = new RegExp(
  [
    ...PERSISTENT_IN_PROJECT.map((segments) => segments.map((segment) => segment.replaceAll('.', '\\.')).join('[/\\0]')),
    '\\.git[/\\0]',
    '(?:conftest|sitecustomize|usercustomize)\\.py',
  ]
    .map((name) => `(?:^|[^a-z0-9_-])${name}(?![a-z0-9_-])`)
    .join('|'),
  'i',
);
const NAMES_SCRIPTS = /"(?:(?:pre|post)\w+|install|prepare|uninstall)"\s*:/i;

/** Whether the text of an archive or a patch names a file that makes something run later. It may, where it only speaks of one. */
export function bringsPersistence(text: string): boolean {
  const plain = text.replace(IGNORED, '');
  return NAMES_PERSISTENT.test(plain) || (/package\.json/i.test(plain) && NAMES_SCRIPTS.test(plain));
}

/** Whether `wanted` follow each other somewhere in `segments`; a segment may be a pattern. */
function runsThrough(segments: readonly string[], wanted: readonly string[]): boolean {
  return segments.some((_, at) => wanted.every((name, index) => matchesPattern(segments[at + index] ?? '', name)));
}

const SECRET_NAMES =
  /(?:^|_)(?:token|secret|secrets|password|passwd|passphrase|pwd_hash|apikey|api_key|access_key|secret_key|private_key|credential|credentials|auth|session_key|cookie)(?:$|_|\d)|(?:key|token|secret|password)$/i;

/** Whether a variable's name says that it holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAMES.test(name);
}

const RISKY_VARIABLES = new Set(
  'PATH CDPATH HOME SHELL ENV BASH_ENV BASH_FUNC SHELLOPTS BASHOPTS PROMPT_COMMAND PS0 PS1 PS4 GLOBIGNORE EDITOR VISUAL PAGER MANPAGER BROWSER LESSOPEN LESSCLOSE LESSEDIT TERMINFO GCONV_PATH LOCPATH NODE_OPTIONS NODE_PATH NODE_REPL_EXTERNAL_MODULE PYTHONSTARTUP PYTHONPATH PYTHONHOME PYTHONINSPECT PYTHONBREAKPOINT PERL5OPT PERL5LIB PERL5DB PERLLIB RUBYOPT RUBYLIB GEM_HOME GEM_PATH BUNDLE_GEMFILE LUA_INIT PHPRC PHP_INI_SCAN_DIR JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS CLASSPATH MAVEN_OPTS GRADLE_OPTS MAKEFLAGS MAKEFILES MFLAGS RUSTC RUSTC_WRAPPER RUSTFLAGS GOFLAGS GOPATH GOROOT GOPROXY GONOSUMDB CC CXX LD AR TAR_OPTIONS GREP_OPTIONS RIPGREP_CONFIG_PATH FZF_DEFAULT_COMMAND GZIP ZIPOPT UNZIPOPT RSYNC_RSH SSH_ASKPASS SUDO_ASKPASS SSH_AUTH_SOCK DOCKER_HOST DOCKER_CONFIG KUBECONFIG AWS_CONFIG_FILE AWS_SHARED_CREDENTIALS_FILE CURL_HOME WGETRC NETRC XDG_CONFIG_HOME XDG_DATA_HOME HTTP_PROXY HTTPS_PROXY ALL_PROXY FTP_PROXY NODE_EXTRA_CA_CERTS SSL_CERT_FILE SSL_CERT_DIR REQUESTS_CA_BUNDLE NODE_TLS_REJECT_UNAUTHORIZED HISTFILE TMPDIR EXINIT VIMINIT BZIP BZIP2 UNZIP TIME MAGIC NLSPATH SSLKEYLOGFILE HOSTALIASES RES_OPTIONS LOCALDOMAIN TERMCAP FPATH GNUPGHOME'.split(
    ' ',
  ),
);
const RISKY_PREFIXES = [
  'LD_',
  'DYLD_',
  'GIT_',
  'NPM_CONFIG_',
  'ODEK_',
  'BASH_FUNC_',
  'PIP_',
  'CARGO_',
  'UV_',
  'YARN_',
  'PNPM_',
  'MALLOC_',
  'ACK',
  'BAT_',
  'OPENSSL_',
  'ASAN_',
  'LSAN_',
  'TSAN_',
  'UBSAN_',
  'GLIBC_',
  'GH_',
  'HELM_',
  'KUBE',
  'SYSTEMD_',
  'MAWK_',
  'COMPOSER_',
  'BUNDLE_',
  'RUSTUP_',
  'LESS',
  'DELTA_',
  'PATCH_',
  'XZ_',
  'PSQL',
];
const PLAIN_VARIABLES = new Set([
  'GIT_AUTHOR_NAME',
  'GIT_AUTHOR_EMAIL',
  'GIT_AUTHOR_DATE',
  'GIT_COMMITTER_NAME',
  'GIT_COMMITTER_EMAIL',
  'GIT_COMMITTER_DATE',
  'GIT_TERMINAL_PROMPT',
  'GIT_OPTIONAL_LOCKS',
  'GIT_MERGE_AUTOEDIT',
  'CARGO_TERM_COLOR',
  'PIP_DISABLE_PIP_VERSION_CHECK',
  'PIP_NO_INPUT',
]);

/** Whether setting a variable changes which programs run, or what they load. */
export function isRiskyVariable(name: string): boolean {
  const upper = name.toUpperCase();
  if (PLAIN_VARIABLES.has(upper)) return false;
  return RISKY_VARIABLES.has(upper) || RISKY_PREFIXES.some((prefix) => upper.startsWith(prefix));
}
