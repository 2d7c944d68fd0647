import { HOST_PACKAGES, type HostServiceName, PLUGIN_BUILTINS } from '../../ports/bundle.ts';
import { displayText } from '../approvals/display.ts';
import type { BundleAsks } from './hashes.ts';
import { trustToken } from './hashes.ts';
import type { BundleManifest } from './manifest.ts';
import type { BundleMcpDefinition } from './mcp-file.ts';
import { type BundleProblem, problemLine } from './problem.ts';

/** What the services of the core would do, in plain words, and whether this version does it. */
const SERVICES: Readonly<Record<HostServiceName, { readonly says: string; readonly works: boolean }>> = {
  files: { says: 'read files of your workspace, through the checks that the tools of odek go through', works: true },
  network: { says: 'send requests to the hosts named under "network"', works: true },
  model: { says: 'ask the model, within the budget of the run', works: true },
  commands: { says: 'run commands in your workspace', works: false },
  settings: { says: 'read settings of odek', works: false },
  plugins: { says: 'see which plugins there are', works: false },
};

export interface ReviewInput {
  readonly manifest: BundleManifest;
  readonly asks: BundleAsks;
  readonly folder: string;
  readonly dataDir: string;
  readonly files: number;
  readonly bytes: number;
  readonly content: string;
  readonly capability: string;
  /** The operator lets code run where nothing keeps it apart. */
  readonly unsandboxed: boolean;
  /** Plugins that are on and are granted the same: their code runs in one process with this one's. */
  readonly shares: readonly string[];
  /** Places where an import is computed at run time. */
  readonly computed: readonly string[];
  readonly problems: readonly BundleProblem[];
  /** What was trusted at this place before. */
  readonly before?: { readonly asks: BundleAsks; readonly changes: readonly string[] };
}

const plain = (text: string): string => displayText(text, 300).replaceAll(/\s+/g, ' ');
const listed = (items: readonly string[]): string => items.map(plain).join(', ');

/** The review of a bundle, as lines. Everything that the bundle wrote is made safe to show. */
export function reviewLines(input: ReviewInput): readonly string[] {
  const { manifest, asks, folder, content, capability, problems } = input;
  const { name, version, description, author } = manifest;
  const where = asks.scope === 'user' ? 'for every project' : `for ${plain(asks.workspace ?? '')} alone`;
  return [
    `Review of ${name}${version === undefined ? '' : ` ${plain(version)}`}, a plugin ${where}`,
    row('folder', `${plain(folder)} (${input.files} files, ${input.bytes} bytes)`),
    ...(author === undefined ? [] : [row('author', `${listed(Object.values(author))} (as it says itself)`)]),
    ...(description === undefined ? [] : [row('about', `${plain(description)} (as it says itself)`)]),
    '',
    'If you trust it and switch it on, it',
    ...allowedLines(asks, input.dataDir).map((line) => `  - ${line}`),
    ...importLines(input),
    ...neverLines(input),
    ...(problems.length === 0 ? [] : ['', 'Left out, or worth knowing', ...problems.map((each) => `  ${problemLine(each)}`)]),
    ...beforeLines(input),
    '',
    row('content hash', content),
    row('capability hash', capability),
    '',
    'To trust exactly this, and nothing that differs in one byte:',
    `  odek plugin trust ${trustToken(content, capability)}`,
    `Trust runs nothing. After it: odek plugin enable ${name}`,
  ];
}

function neverLines({ asks, unsandboxed }: ReviewInput): readonly string[] {
  const approves = '  - approves anything: every call of one of its tools is asked about, like running code';
  if (asks.native.length === 0) return ['', 'It never', approves];
  return [
    '',
    'Its code never',
    '  - reads your home folder, your projects, your keys or the environment of odek by itself',
    '  - opens a connection, starts a program or loads native code by itself',
    approves,
    ...(unsandboxed ? ['  BUT extension_host.allow_unsandboxed is on: where there is no bubblewrap, it can open connections'] : []),
  ];
}

function row(label: string, text: string): string {
  return `  ${label.padEnd(16)}${text}`;
}

/** What it would be allowed, one line each. The same lines of an earlier trust are compared with these. */
export function allowedLines(asks: BundleAsks, dataDir: string): readonly string[] {
  const { native, capabilities, mcpServers, skills } = asks;
  const { hostServices, networkHosts, filesystemRoots, lifecycleMutation } = capabilities;
  const code = native.length > 0;
  return [
    code ? `runs code in a process of its own: ${listed(native)}` : 'runs no code in odek',
    ...(code ? ['offers tools to the model and commands to you', `keeps files in ${plain(dataDir)}`] : []),
    ...hostServices.map(
      (name) => `asks odek to ${SERVICES[name].says} ("${name}")${SERVICES[name].works ? '' : '; this version of odek refuses that'}`,
    ),
    ...(hostServices.includes('files')
      ? [`files: ${filesystemRoots.length === 0 ? 'your workspace' : `${listed(filesystemRoots)}, as far as it lies in your workspace`}`]
      : []),
    ...(filesystemRoots.length > 0 && !hostServices.includes('files')
      ? [`names folders (${listed(filesystemRoots)}) and gets none of them: it does not ask for "files"`]
      : []),
    ...(hostServices.includes('network') ? [`network: ${networkHosts.length === 0 ? 'no host' : listed(networkHosts)}`] : []),
    ...(networkHosts.length > 0 && !hostServices.includes('network')
      ? [`names hosts (${listed(networkHosts)}) and reaches none of them: it does not ask for "network"`]
      : []),
    ...(lifecycleMutation ? ['asks to change what other plugins do; this version of odek refuses that'] : []),
    ...mcpServers.map(serverLine),
    ...(skills.length === 0 ? [] : [`gives the model instructions to load: ${listed(skills)}`]),
  ];
}

function serverLine(server: BundleMcpDefinition): string {
  if (server.transport === 'http') return `connects to an MCP server: ${server.name} at ${plain(server.url)}`;
  const env = Object.entries(server.env).map(([key, value]) => `${key}=${value}`);
  const command = [...env, server.command, ...server.args]
    .map((part) => (/^[\w./:@%+,=-]+$/.test(part) ? part : JSON.stringify(part)))
    .join(' ');
  return `starts a program on your machine, outside of the plugin's process, as an MCP server: ${server.name}: ${plain(command)} (in ${plain(server.cwd)})`;
}

function importLines({ asks, computed, shares }: ReviewInput): readonly string[] {
  if (asks.native.length === 0) return [];
  return [
    '',
    'Its code',
    ...(shares.length === 0
      ? []
      : [`  - shares its process with ${listed(shares)}: each of them can do what the others can, and read what they keep`]),
    `  - imports ${asks.imports.length === 0 ? 'nothing from outside of the bundle' : listed(asks.imports)}`,
    ...(computed.length === 0
      ? []
      : [`  - works out at run time what it imports, at ${listed(computed)}; only files of the bundle are loaded`]),
    `  - may import of node: ${PLUGIN_BUILTINS.join(', ')}`,
    `  - may import of odek: ${HOST_PACKAGES.join(', ')}`,
  ];
}

function beforeLines({ before, asks, dataDir }: ReviewInput): readonly string[] {
  if (before === undefined) return ['', 'Nothing of it was trusted at this place before.'];
  const [was, is] = [allowedLines(before.asks, dataDir), allowedLines(asks, dataDir)];
  const imports = [before.asks.imports, asks.imports] as const;
  const allowed = [
    ...was.filter((line) => !is.includes(line)).map((line) => `  - ${line}`),
    ...is.filter((line) => !was.includes(line)).map((line) => `  + ${line}`),
    ...imports[0].filter((name) => !imports[1].includes(name)).map((name) => `  - imports ${plain(name)}`),
    ...imports[1].filter((name) => !imports[0].includes(name)).map((name) => `  + imports ${plain(name)}`),
  ];
  return [
    '',
    'Since it was trusted last',
    ...(allowed.length === 0 ? ['  what it is allowed is the same'] : allowed),
    ...(before.changes.length === 0 ? ['  no file changed'] : before.changes.map((line) => `  ${line}`)),
  ];
}
