import { lstat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { problemLine } from '../../../core/bundles/problem.ts';
import { ConfigError } from '../../../ports/errors.ts';
import { activeBundles } from '../../bundles/active.ts';
import { isUsable } from '../../bundles/inspect.ts';
import { EXIT } from '../exit-codes.ts';
import { onInterrupt } from '../interrupt.ts';
import { suggestion } from '../nearest.ts';
import { configText, listLines, showLines } from './show.ts';
import type { PluginWork } from './work.ts';

interface Action {
  readonly argument: 'none' | 'one' | 'maybe';
  readonly usage: string;
  run(work: PluginWork, argument: string): Promise<number>;
}

/** Every action of `odek plugin` and of `/plugin`, by its name. */
const ACTIONS: Readonly<Record<string, Action>> = {
  list: { argument: 'none', usage: 'list', run: listPlugins },
  install: { argument: 'one', usage: 'install <folder>', run: installPlugin },
  validate: { argument: 'one', usage: 'validate <folder or name>', run: validatePlugin },
  show: { argument: 'one', usage: 'show <name>', run: showPlugin },
  review: { argument: 'one', usage: 'review <name>', run: reviewPlugin },
  trust: { argument: 'one', usage: 'trust <token>', run: trustPlugin },
  enable: { argument: 'one', usage: 'enable <name>', run: enablePlugin },
  disable: { argument: 'one', usage: 'disable <name>', run: disablePlugin },
  revoke: { argument: 'one', usage: 'revoke <name>', run: revokePlugin },
  remove: { argument: 'one', usage: 'remove <name>', run: removePlugin },
  reload: { argument: 'none', usage: 'reload', run: reloadPlugins },
  config: { argument: 'one', usage: 'config <name>', run: showConfig },
  test: { argument: 'one', usage: 'test <folder>', run: testFolder },
  new: { argument: 'one', usage: 'new <name>', run: newPlugin },
};

/** Does one action. Resolves with an exit code; rejects with `ConfigError` for words that are none, and with what the action rejects with. */
export async function runPluginAction(words: readonly string[], work: PluginWork): Promise<number> {
  const [name = 'list', argument, ...rest] = words;
  const action = Object.hasOwn(ACTIONS, name) ? ACTIONS[name] : undefined;
  if (action === undefined) {
    const names = Object.keys(ACTIONS);
    throw new ConfigError(
      'unexpected_argument',
      `there is no action "${name.slice(0, 80)}"${suggestion(name, names)}; there are ${names.join(', ')}`,
      {
        value: name,
        limit: names,
      },
    );
  }
  if (argument === undefined && action.argument === 'one')
    throw new ConfigError('missing_argument', `usage: plugin ${action.usage}`, { value: name });
  if (rest.length > 0 || (argument !== undefined && action.argument === 'none')) {
    throw new ConfigError('unexpected_argument', `usage: plugin ${action.usage}`, { value: words.join(' ') });
  }
  return action.run(work, argument ?? '');
}

function tell({ out }: PluginWork, lines: readonly string[]): void {
  for (const line of lines) out(line);
}

async function listPlugins(work: PluginWork): Promise<number> {
  tell(work, listLines(await work.shelf.list(), work));
  return EXIT.ok;
}

async function installPlugin(work: PluginWork, folder: string): Promise<number> {
  const { name, folder: target, inspection } = await work.shelf.install(resolve(work.cwd, folder), work);
  const notes = (inspection?.problems ?? []).map(problemLine);
  tell(work, [`"${name}" was copied to ${target}. Nothing of it runs.`, ...notes, `Next: odek plugin review ${name}`]);
  return EXIT.ok;
}

async function validatePlugin(work: PluginWork, given: string): Promise<number> {
  const folder = resolve(work.cwd, given);
  const isFolder = /[/\\.]/.test(given) || (await lstat(join(folder, 'plugin.json')).catch(() => undefined)) !== undefined;
  const found = isFolder ? await work.shelf.validate(folder) : (await work.shelf.find(given)).inspection;
  if (found === undefined) throw new ConfigError('unexpected_argument', (await work.shelf.find(given)).why, { value: given });
  const isFine = isUsable(found);
  if (work.json)
    work.out(JSON.stringify({ valid: isFine, name: found.manifest?.name, asks: found.asks, problems: found.problems }, null, 2));
  else {
    const what = found.manifest === undefined ? given : `"${found.manifest.name}"`;
    tell(work, [...found.problems.map(problemLine), isFine ? `${what} can be installed and reviewed.` : `${what} cannot be used.`]);
  }
  return isFine ? EXIT.ok : EXIT.failed;
}

async function showPlugin(work: PluginWork, name: string): Promise<number> {
  tell(work, showLines(await work.shelf.find(name), work));
  return EXIT.ok;
}

async function reviewPlugin(work: PluginWork, name: string): Promise<number> {
  tell(work, await work.shelf.review(name, work.actor('review')));
  return EXIT.ok;
}

async function trustPlugin(work: PluginWork, token: string): Promise<number> {
  const { name, standing, why } = await work.shelf.trust(token, work.actor('trust'));
  const next = standing === 'on' ? 'It is on.' : why;
  tell(work, [`"${name}" is trusted, exactly as it was reviewed. Trust runs nothing.`, next]);
  return EXIT.ok;
}

async function enablePlugin(work: PluginWork, name: string): Promise<number> {
  const status = await work.shelf.enable(name, work.actor('enable'));
  const hasCode = (status.inspection?.asks?.native.length ?? 0) > 0;
  const off = hasCode && !work.config.extension_host.enabled;
  tell(work, [
    `"${status.name}" is on${status.why === '' ? '' : `, but ${status.why}`}.`,
    ...(off ? [`Its code does not run yet: set "extension_host": { "enabled": true } in ${work.config.state.configFile}.`] : []),
    ...((await work.live?.reload()) ?? []),
  ]);
  return EXIT.ok;
}

async function disablePlugin(work: PluginWork, name: string): Promise<number> {
  const status = await work.shelf.enable(name, undefined);
  tell(work, [`"${status.name}" is off. What was trusted stays trusted.`, ...((await work.live?.reload()) ?? [])]);
  return EXIT.ok;
}

async function revokePlugin(work: PluginWork, name: string): Promise<number> {
  const status = await work.shelf.revoke(name);
  tell(work, [`"${status.name}" is no longer trusted, and off.`, ...((await work.live?.reload()) ?? [])]);
  return EXIT.ok;
}

async function removePlugin(work: PluginWork, name: string): Promise<number> {
  const status = await work.shelf.remove(name);
  tell(work, [`"${status.name}" was removed. What it kept in its data folder is still there.`, ...((await work.live?.reload()) ?? [])]);
  return EXIT.ok;
}

async function reloadPlugins(work: PluginWork): Promise<number> {
  if (work.live !== undefined) {
    tell(work, await work.live.reload());
    return EXIT.ok;
  }
  const configs = Object.fromEntries(Object.entries(work.config.plugins).map(([name, { config }]) => [name, config]));
  const { bundles, troubles } = await activeBundles({ ...work, configs });
  tell(work, [
    ...bundles.map(({ name, configRefused }) =>
      configRefused === undefined ? `"${name}" is ready.` : `"${name}" gets no settings: ${configRefused}`,
    ),
    ...troubles.map(({ name, why }) => `"${name}" does not run: ${why}`),
    ...(bundles.length + troubles.length === 0 ? ['No plugin is on.'] : []),
  ]);
  return troubles.length === 0 ? EXIT.ok : EXIT.failed;
}

async function showConfig(work: PluginWork, name: string): Promise<number> {
  const status = await work.shelf.find(name);
  tell(work, [
    `settings of "${status.name}": ${configText(status.name, work.config)}`,
    `They are yours, not the project's. In ${work.config.state.configFile}:`,
    `  ${JSON.stringify({ plugins: { [status.name]: { config: { key: 'value' } } } })}`,
    'No trust is asked for again when they change. Its code reads them, so put no secret there.',
  ]);
  return EXIT.ok;
}

async function testFolder(work: PluginWork, folder: string): Promise<number> {
  const { testPlugin } = await import('../../bundles/test-run.ts');
  const interrupt = onInterrupt();
  try {
    const isFine = await testPlugin(resolve(work.cwd, folder), { ...work, signal: interrupt.signal });
    work.out(isFine ? 'All is as it should be.' : 'Something is wrong.');
    return isFine ? EXIT.ok : EXIT.failed;
  } finally {
    interrupt.stop();
  }
}

async function newPlugin(work: PluginWork, name: string): Promise<number> {
  const { writeNewPlugin } = await import('./new.ts');
  const { folder, files } = await writeNewPlugin(name, work.cwd);
  tell(work, [
    `${folder}:`,
    ...files.map((file) => `  ${file}`),
    `Next: odek plugin test ${folder}`,
    `      odek plugin install ${folder}`,
  ]);
  return EXIT.ok;
}
