import { ConfigError } from '../../ports/errors.ts';
import type { KeySpec } from '../config/key-spec.ts';
import { CONFIG_KEYS } from '../config/keys.ts';
import { loadConfig } from '../config/load.ts';
import { shownValue } from '../config/shown-value.ts';
import type { ConfigSource, LoadedConfig } from '../config/types.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { suggestion } from './nearest.ts';
import { sanitise } from './render/sanitise.ts';

/** One line of the view. `value` is absent for a key that nobody set; secrets are already hidden. */
export interface ConfigRow {
  readonly key: string;
  readonly value?: unknown;
  readonly source: ConfigSource;
}

/** `odek config [section] [--json]`: the resolved view with the layer that won, secrets hidden. */
export async function run({ args, io, env, cwd }: CommandContext): Promise<number> {
  const loaded = await loadConfig({ env, cwd, flags: args.flags, tolerant: true });
  io.mask?.(loaded.config.secrets);
  for (const warning of loaded.warnings) io.stderr.write(`odek: ${sanitise(warning)}\n`);
  const rows = sectionOf(configRows(loaded), args.positionals[0]);
  if (args.flags.json === true) {
    const view = rows.map(({ key, source, value }) => [key, value === undefined ? { source } : { value, source }]);
    io.stdout.write(`${JSON.stringify(Object.fromEntries(view), null, 2)}\n`);
  } else io.stdout.write(sanitise(configText(rows, loaded)));
  return EXIT.ok;
}

/** Every key in the table's order; a key with names of the operator's own has a row for each. */
export function configRows({ config, values, sources }: LoadedConfig): readonly ConfigRow[] {
  const row = (spec: KeySpec, key: string): ConfigRow => {
    const source = sources[key] ?? 'default';
    const value = values[key];
    return value === undefined ? { key, source } : { key, source, value: shownValue(spec, value, config.secrets) };
  };
  return CONFIG_KEYS.flatMap((spec) => {
    if (!spec.key.includes('<')) return [row(spec, spec.key)];
    return Object.keys(values)
      .filter((key) => belongsTo(spec.key, key))
      .map((key) => row(spec, key));
  });
}

function belongsTo(pattern: string, key: string): boolean {
  const [before = '', after = ''] = pattern.split(/<[^>]*>/);
  return key.length > before.length + after.length && key.startsWith(before) && key.endsWith(after);
}

function sectionOf(rows: readonly ConfigRow[], section: string | undefined): readonly ConfigRow[] {
  if (section === undefined) return rows;
  const found = rows.filter(({ key }) => key === section || key.startsWith(`${section}.`));
  const known = CONFIG_KEYS.some(({ key }) => key === section || key.startsWith(`${section}.`));
  if (found.length > 0 || known) return found;
  const names = CONFIG_KEYS.flatMap(({ key }) => [key, key.split('.')[0] ?? key]);
  throw new ConfigError('unknown_key', `there is no key or section "${section}"${suggestion(section, names)}`, { value: section });
}

function configText(rows: readonly ConfigRow[], { config }: LoadedConfig): string {
  const shown = rows.map((row): readonly [string, string, string] => [
    row.key,
    oneLine(row.value),
    row.value === undefined ? '' : row.source,
  ]);
  const keyWidth = Math.max(0, ...shown.map(([key]) => key.length));
  const valueWidth = Math.min(48, Math.max(0, ...shown.map(([, value]) => value.length)));
  const lines = shown.map(([key, value, source]) => `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${source}`.trimEnd());
  const files = [`operator's file: ${config.state.configFile}`, `project's file:  ${config.state.projectFile}`];
  return `${[...lines, '', ...files].join('\n')}\n`;
}

function oneLine(value: unknown): string {
  if (value === undefined) return '-';
  const text = typeof value === 'string' && value !== '' && !/[\r\n]/.test(value) ? value : JSON.stringify(value);
  return text.length <= 120 ? text : `${text.slice(0, 119)}…`;
}
