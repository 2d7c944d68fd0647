/** What the bundler is taught about odek, for `hosts/build.ts`. */
import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { dirname, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';

const ROOT = fileURLToPath(new URL('..', import.meta.url));

/**
 * `import('package')` of a CommonJS package: node finds its named exports, the bundler with splitting
 * gives only a default. Asking node for the names, here, makes the bundle behave like the source.
 */
export const NAMED_EXPORTS: Plugin = {
  name: 'named exports of lazily imported packages',
  setup(it) {
    it.onResolve({ filter: /^[a-z@]/ }, ({ path, kind }) => {
      if (kind !== 'dynamic-import' || isBuiltin(path)) return undefined;
      return { path: import.meta.resolve(path), namespace: 'lazy' };
    });
    it.onLoad({ filter: /.*/, namespace: 'lazy' }, async ({ path }) => {
      const names = Object.keys((await import(path)) as object).filter((name) => /^[\w$]+$/.test(name) && name !== 'module.exports');
      const file = fileURLToPath(path);
      return { contents: `export { ${names.join(', ')} } from ${JSON.stringify(file)};`, resolveDir: dirname(file) };
    });
  },
};

/**
 * An ES import of a node module reads each of its exports, also those that load something at first
 * sight: `import 'node:http'` brings in node's fetch, 20 ms that nobody asked for. In the bundle a node
 * module is an object whose members are looked up when they are used, so that it loads at that moment.
 */
export const BUILT_INS: Plugin = {
  name: 'node modules at first use',
  setup(it) {
    it.onResolve({ filter: /^(node:)?[a-z]/ }, ({ path, kind }) => {
      if (kind !== 'import-statement' || !isBuiltin(path)) return undefined;
      return { path: path.replace(/^(node:)?/, 'node:'), namespace: 'built-in' };
    });
    it.onLoad({ filter: /.*/, namespace: 'built-in' }, ({ path }) => {
      const names = Object.keys(process.getBuiltinModule(path) as object).join(' ');
      return {
        contents: `
          import { lazily } from 'lazily';
          module.exports = lazily(${JSON.stringify(path)}, ${JSON.stringify(names)});`,
        loader: 'js',
      };
    });
    it.onResolve({ filter: /^lazily$/ }, ({ path }) => ({ path, namespace: 'lazily' }));
    it.onLoad({ filter: /.*/, namespace: 'lazily' }, () => ({
      contents: `export const lazily = (path, names) => {
        let loaded;
        const members = {};
        for (const name of names.split(' ')) {
          Object.defineProperty(members, name, { enumerable: true, get: () => (loaded ??= process.getBuiltinModule(path))[name] });
        }
        return members;
      };`,
    }));
  },
};

/** What every run needs although source loads it lazily: its importer takes it along. */
const JOINED: readonly string[] = [
  'adapters/approver/terminal.ts',
  'adapters/clock/system.ts',
  'adapters/fs/disk.ts',
  'adapters/hash/sha256.ts',
  'adapters/http/index.ts',
  'adapters/ids/random.ts',
  'adapters/llm/openai.ts',
  'adapters/process/jobs.ts',
  'adapters/process/node.ts',
  'adapters/process/sandbox/bwrap.ts',
  'adapters/schema/ajv.ts',
  'adapters/session-search/store.ts',
  'adapters/shell-grammar/unbash.ts',
  'adapters/store/index.ts',
  'plugins/about/index.ts',
  'plugins/background/index.ts',
  'plugins/calc/index.ts',
  'plugins/files/index.ts',
  'plugins/inspect/index.ts',
  'plugins/plan-tool/index.ts',
  'plugins/session-search/index.ts',
  'plugins/shell/index.ts',
  'plugins/web/index.ts',
];

/**
 * Lazily imported modules that share a file. Left alone, the bundler makes one for every set of
 * modules that are reached alike, sixty in all, and opening half of them takes longer than reading
 * what a few larger ones hold too much.
 */
const GROUPS: Readonly<Record<string, readonly string[]>> = {
  'command-line': [
    'hosts/cli/args.ts',
    'hosts/cli/commands.ts',
    'hosts/cli/exit-codes.ts',
    'hosts/cli/help.ts',
    'hosts/cli/masked-io.ts',
    'hosts/cli/render/sanitise.ts',
    'ports/errors.ts',
  ],
  agent: ['hosts/cli/continue.ts', 'hosts/cli/repl.ts', 'hosts/cli/run.ts'],
  upkeep: [
    'hosts/cli/audit.ts',
    'hosts/cli/approvals-command.ts',
    'hosts/cli/completion.ts',
    'hosts/cli/config.ts',
    'hosts/cli/doctor.ts',
    'hosts/cli/init.ts',
    'hosts/cli/models.ts',
    'hosts/cli/plan-command.ts',
    'hosts/cli/session-command.ts',
    'hosts/cli/usage.ts',
    'hosts/telegram/doctor.ts',
  ],
  mcp: [
    'hosts/cli/mcp/approve.ts',
    'hosts/cli/mcp/list.ts',
    'hosts/cli/mcp/login.ts',
    'hosts/cli/mcp/logout.ts',
    'hosts/cli/mcp/probe.ts',
    'hosts/cli/mcp/revoke.ts',
    'hosts/cli/mcp/work.ts',
    'hosts/config/apply-servers.ts',
    'hosts/mcp-client/connector.ts',
    'hosts/mcp-client/consent.ts',
    'hosts/mcp-client/oauth.ts',
    'hosts/mcp-client/open.ts',
  ],
  'mcp-protocol': ['adapters/mcp/oauth/login.ts', 'adapters/mcp/oauth/renewal.ts', 'adapters/mcp/open.ts'],
  'plugin-host': ['hosts/bundles/active.ts', 'hosts/bundles/shelf.ts', 'hosts/plugin-host/doctor.ts', 'hosts/plugin-host/open.ts'],
  server: ['hosts/cli/mcp.ts', 'hosts/mcp/main.ts'],
  'server-transports': ['hosts/mcp/http.ts', 'hosts/mcp/stdio.ts'],
  schedule: ['hosts/cli/schedule.ts'],
  scheduler: [
    'hosts/cli/schedule/run-now.ts',
    'hosts/mcp-client/shared.ts',
    'hosts/schedule/daemon.ts',
    'hosts/schedule/deliver/file.ts',
    'hosts/schedule/deliver/log-file.ts',
    'hosts/schedule/deliver/webhook.ts',
    'hosts/schedule/ticker.ts',
  ],
  plugins: ['hosts/cli/plugin.ts', 'hosts/plugin-host/live.ts', 'hosts/cli/plugin/new.ts'],
  'plugin-test': ['hosts/bundles/test-run.ts'],
  extension: ['hosts/cli/extension.ts', 'hosts/mcp/check/contract.ts'],
  artifacts: ['adapters/artifacts/disk.ts', 'core/artifacts/desk.ts', 'plugins/artifact/index.ts'],
  skills: ['hosts/skills/open.ts', 'plugins/skills/index.ts'],
  formats: ['adapters/llm/anthropic.ts', 'adapters/llm/gemini.ts', 'adapters/llm/local.ts', 'adapters/llm/openai-responses.ts'],
  telegram: ['adapters/telegram/index.ts', 'hosts/cli/telegram.ts', 'hosts/telegram/deliver-run.ts', 'hosts/telegram/main.ts'],
  seldom: [
    'adapters/approver/clarifier.ts',
    'adapters/approver/stored.ts',
    'hosts/cli/approvals/asking.ts',
    'plugins/clarify/index.ts',
    'plugins/web/search.ts',
    'adapters/http/proxy.ts',
    'adapters/process/sandbox/docker.ts',
    'adapters/process/sandbox/docker-image.ts',
    'core/references/references.ts',
    'adapters/llm/record.ts',
    'adapters/llm/replay.ts',
    'adapters/sinks/jsonl.ts',
    'adapters/sinks/otel.ts',
    'hosts/adapters.ts',
  ],
};

/**
 * Groups that are opened only where the agent is there already, or that need it. They take it along, so
 * that what they share with it lies in its own file and not in one of many small ones.
 */
const BESIDE_AN_AGENT: ReadonlySet<string> = new Set([
  'artifacts',
  'formats',
  'mcp-protocol',
  'plugin-test',
  'scheduler',
  'seldom',
  'server',
  'server-transports',
  'skills',
  'telegram',
]);

/** Source file → what its lazy import becomes. */
const PLACES = new Map<string, 'joined' | string>([
  ...JOINED.map((file) => [file, 'joined'] as const),
  ...Object.entries(GROUPS).flatMap(([group, files]) => files.map((file) => [file, group] as const)),
]);

const memberOf = (file: string): string => file.replace(/\W/g, '_');

/** Rewrites the lazy imports of one source file. */
function placeImports(path: string, text: string): string {
  const heads: string[] = [];
  const placed = text.replace(/(?<!typeof )import\('(\.[^']+)'\)/g, (lazy, target: string) => {
    const file = relative(ROOT, resolve(dirname(path), target));
    const place = PLACES.get(file);
    if (place === undefined) return lazy;
    if (place !== 'joined') return `import('group:${place}').then((group) => group.${memberOf(file)})`;
    heads.push(`import * as joined${heads.length} from '${target}';`);
    return `Promise.resolve(joined${heads.length - 1})`;
  });
  return `${heads.join('')}${placed}`;
}

/** Makes few files of many lazy imports. */
export const GROUP: Plugin = {
  name: 'few files',
  setup(it) {
    it.onLoad({ filter: /\/(core|adapters|plugins|hosts)\/.*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const placed = placeImports(path, text);
      return placed === text ? undefined : { contents: placed, loader: 'ts' };
    });
    it.onResolve({ filter: /^group:/ }, ({ path }) => ({ path: path.slice('group:'.length), namespace: 'group' }));
    it.onLoad({ filter: /.*/, namespace: 'group' }, ({ path }) => ({
      contents: [
        ...(BESIDE_AN_AGENT.has(path) ? ["import 'group:agent';"] : []),
        ...(GROUPS[path] ?? []).map((file) => `export * as ${memberOf(file)} from ${JSON.stringify(`./${file}`)};`),
      ].join('\n'),
      resolveDir: ROOT,
    }));
  },
};
