import { isAbsolute, relative } from 'node:path';

/** The same files as those that a command line is asked about; a test compares the two lists. */
const NAMES = new Set(
  '.envrc.private .netrc _netrc .npmrc .pypirc .pgpass .my.cnf .htpasswd .dockercfg .git-credentials .vault-token .s3cfg .boto credentials.json credentials.toml mcp_oauth.json kubeconfig'.split(
    ' ',
  ),
);
const ENDINGS = '.env .pem .key .p12 .pfx .jks .keystore .kdbx .kubeconfig .tfstate .tfstate.backup .tfvars'.split(' ');
const SAMPLES = new Set(['.env.example', '.env.sample', '.env.template', '.env.dist']);
const FOLDERS = new Set(['secrets', '.ssh', '.aws', '.azure', '.gnupg', '.kube', '.docker']);

/** Whether the file at a path usually holds a secret: by its name, or by a folder that it lies in. Case does not matter. */
export function isCredentialPath(path: string): boolean {
  const folders = path.toLowerCase().split('/');
  const name = folders.pop() ?? '';
  if (folders.some((folder) => FOLDERS.has(folder))) return true;
  if (NAMES.has(name) || name.startsWith('id_')) return true;
  if (name.startsWith('.env.')) return !SAMPLES.has(name);
  return ENDINGS.some((ending) => name.endsWith(ending));
}

/** The same for an absolute path, where the folders above `root` say nothing about what lies in it. */
export function isCredentialIn(root: string, path: string): boolean {
  const below = relative(root, path);
  return isCredentialPath(below.startsWith('..') || isAbsolute(below) ? path : below);
}
