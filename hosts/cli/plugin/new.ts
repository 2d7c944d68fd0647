import { lstat, mkdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { BUNDLE_NAME, CANONICAL_SCHEMA, NAMESPACE } from '../../../core/bundles/manifest.ts';
import { shown } from '../../../core/bundles/problem.ts';
import { BundleError } from '../../../ports/bundle.ts';
import { ConfigError } from '../../../ports/errors.ts';

const MAX_NAME = 48;

/** Writes a bundle that works into a new folder called like it. Rejects with `plugin_exists` where one is there. */
export async function writeNewPlugin(name: string, cwd: string): Promise<{ readonly folder: string; readonly files: readonly string[] }> {
  if (name.length > MAX_NAME || !BUNDLE_NAME.test(name)) {
    const limit = `1 to ${MAX_NAME} of a-z, 0-9, "-" and ".", with a letter or digit at both ends and neither "--" nor ".."`;
    throw new ConfigError('invalid_value', `the name of a plugin must be ${limit}, not ${shown(name)}`, { value: name, limit });
  }
  const folder = resolve(cwd, name);
  if ((await lstat(folder).catch(() => undefined)) !== undefined) {
    throw new BundleError('plugin_exists', `${folder} is there already`, { value: folder });
  }
  const files = newFiles(name);
  await mkdir(folder);
  for (const [path, text] of Object.entries(files)) await writeFile(join(folder, path), text, { flag: 'wx' });
  return { folder, files: Object.keys(files) };
}

function newFiles(name: string): Readonly<Record<string, string>> {
  const spelt = name.replaceAll('.', '-').replace(/^(?=[0-9])/, 'p');
  const [tool, command] = [`${spelt.replaceAll('-', '_')}_greet`, `${spelt}-greet`];
  const manifest = {
    $schema: CANONICAL_SCHEMA,
    name,
    version: '0.1.0',
    description: 'Says what it is for, in one sentence.',
    extensions: { [NAMESPACE]: { native: { path: 'plugin.mts' } } },
  };
  const test = {
    tools: [{ name: tool, input: { name: 'Ada' }, output: 'Hello, Ada!' }],
    commands: [{ name: command, args: 'Ada', output: 'Hello, Ada!' }],
  };
  return {
    'plugin.json': json(manifest),
    'plugin.mts': moduleText(tool, command),
    'plugin.test.json': json(test),
  };
}

function json(value: object): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

function moduleText(tool: string, command: string): string {
  return `import type { PluginContext } from 'odek/plugin';

/** The services that apply uses; anything that is not named here is not there. */
export const inject = ['tools', 'commands'];

const greet = (name: string): string => \`Hello, \${name}!\`;

export function apply(ctx: PluginContext): void {
  ctx.tools.register<{ name: string }>({
    name: '${tool}',
    description: 'Greets somebody by name.',
    parameters: {
      type: 'object',
      properties: { name: { type: 'string', minLength: 1, maxLength: 100 } },
      required: ['name'],
      additionalProperties: false,
    },
    execute: ({ name }) => greet(name),
  });
  ctx.commands.register({
    name: '${command}',
    description: 'Greet somebody.',
    argumentHint: '[name]',
    handler: ({ args }) => greet(args || 'world'),
  });
}
`;
}
