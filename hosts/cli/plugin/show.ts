import { displayText } from '../../../core/approvals/display.ts';
import { configProblem } from '../../../core/bundles/config.ts';
import { trustToken } from '../../../core/bundles/hashes.ts';
import { problemLine } from '../../../core/bundles/problem.ts';
import type { BundleActor } from '../../../ports/bundle.ts';
import { dataDirOf } from '../../bundles/places.ts';
import type { BundleStatus, Standing } from '../../bundles/standing.ts';
import { columns } from '../render/columns.ts';
import type { PluginWork } from './work.ts';

const WORDS: Readonly<Record<Standing, string>> = {
  invalid: 'cannot be used',
  untrusted: 'not trusted',
  changed: 'changed since it was trusted',
  trusted: 'trusted, off',
  on: 'on',
  elsewhere: 'on, not for this machine',
};

const APPROVERS: Readonly<Record<BundleActor['who'], string>> = {
  person: 'a person at a terminal',
  'command-line': 'the command line, with nobody at a terminal',
};

export function actorText({ who, how, account, at }: BundleActor): string {
  return `${APPROVERS[who]} (${displayText(account, 64)}, ${how}, ${new Date(at).toISOString()})`;
}

const oneLine = (text: string): string => displayText(text, 400).replaceAll(/\s+/g, ' ');

/** The table of `odek plugin list`. */
export function listLines(
  all: readonly BundleStatus[],
  { live, json, config }: Pick<PluginWork, 'live' | 'json' | 'config'>,
): readonly string[] {
  if (json) return [JSON.stringify(all.map(statusJson), null, 2)];
  if (all.length === 0) return ['No plugin is installed. docs/plugins.md says how to write one, and how to install one.'];
  const isIdle = ({ standing, inspection }: BundleStatus): boolean =>
    standing === 'on' && !config.extension_host.enabled && (inspection?.asks?.native.length ?? 0) > 0;
  const rows = all.map((status) =>
    rowOf(status, isIdle(status) ? `its code is not run: extension_host.enabled is false in ${config.state.configFile}` : status.why),
  );
  return [...columns([['plugin', 'version', 'from', 'state', 'trusted by', 'what to do'], ...rows]), ...(live?.health() ?? [])];
}

function rowOf({ name, scope, standing, inspection, record }: BundleStatus, todo: string): readonly string[] {
  return [
    name,
    oneLine(inspection?.manifest?.version ?? '-'),
    scope,
    WORDS[standing],
    record?.trust === undefined ? '-' : record.trust.by.who,
    oneLine(todo),
  ];
}

export function statusJson({ id, name, scope, workspace, folder, standing, why, inspection, record }: BundleStatus): object {
  return {
    ...{ id, name, scope, workspace, folder, state: standing, why },
    version: inspection?.manifest?.version,
    content_hash: inspection?.content,
    capability_hash: inspection?.capability,
    trusted_by: record?.trust?.by,
    enabled_by: record?.enabled,
    asks: inspection?.asks,
    problems: inspection?.problems ?? [],
  };
}

/** What `odek plugin show` says of one plugin. */
export function showLines(status: BundleStatus, work: PluginWork): readonly string[] {
  const { name, id, folder, standing, why, inspection, record, scope, workspace } = status;
  if (work.json) return [JSON.stringify(statusJson(status), null, 2)];
  const trust = record?.trust;
  const rows: (readonly [string, string])[] = [
    ['plugin', `${name} ${oneLine(inspection?.manifest?.version ?? '')}`.trim()],
    ['from', scope === 'user' ? 'your plugins, for every project' : `the project ${workspace}, for it alone`],
    ['folder', folder],
    ['state', `${WORDS[standing]}${why === '' ? '' : `: ${oneLine(why)}`}`],
  ];
  if (inspection !== undefined) rows.push(['on disk', trustToken(inspection.content, inspection.capability)]);
  if (trust !== undefined) {
    rows.push(['trusted', trustToken(trust.content, trust.capability)]);
    rows.push(['trusted by', actorText(trust.by)]);
  }
  if (record?.enabled !== undefined) rows.push(['enabled by', actorText(record.enabled)]);
  if (inspection?.asks !== undefined) rows.push(...askRows(status, work));
  rows.push(['data', dataDirOf(work.places, name, id)]);
  return [
    ...rows.map(([label, text]) => `${label.padEnd(12)}${text}`),
    ...(inspection?.problems ?? []).map(problemLine),
    ...(work.live?.lines(name) ?? []),
  ];
}

function askRows({ name, inspection }: BundleStatus, { config }: PluginWork): readonly (readonly [string, string])[] {
  const asks = inspection?.asks;
  if (asks === undefined) return [];
  const rows: (readonly [string, string])[] = [];
  if (asks.native.length > 0) {
    const off = config.extension_host.enabled ? '' : ' (not run: extension_host.enabled is false)';
    rows.push(['code', `${asks.native.map(oneLine).join(', ')}${off}`]);
  }
  if (asks.mcpServers.length > 0) rows.push(['MCP', asks.mcpServers.map((server) => server.name).join(', ')]);
  if (asks.skills.length > 0) rows.push(['skills', asks.skills.map(oneLine).join(', ')]);
  if (asks.capabilities.hostServices.length > 0) rows.push(['services', asks.capabilities.hostServices.join(', ')]);
  rows.push(['config', configText(name, config)]);
  return rows;
}

/** The keys that are set, never their values. */
export function configText(name: string, { plugins }: PluginWork['config']): string {
  const own = Object.hasOwn(plugins, name) ? plugins[name]?.config : undefined;
  if (own === undefined || Object.keys(own).length === 0) return 'nothing is set';
  const problem = configProblem(own);
  const keys = Object.keys(own)
    .map((key) => oneLine(key))
    .join(', ');
  return `${keys}${problem === undefined ? '' : `: refused, ${problem}`}`;
}
