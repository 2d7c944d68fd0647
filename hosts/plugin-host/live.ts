import { displayText } from '../../core/approvals/display.ts';
import type { LivePlugins } from '../cli/plugin/work.ts';
import type { PluginBoard } from './board.ts';
import type { LivePlugin, PluginHostReport } from './desk.ts';
import type { GroupReport } from './group-facts.ts';

function processLine({ name, phase, why, plugins, process }: GroupReport): string {
  const about = `${name}: ${phase}${why === '' ? '' : ` (${displayText(why, 500)})`}, for ${plugins.join(', ')}`;
  if (process === undefined) return about;
  const { runtime, sandbox, memory, pid, startMs } = process;
  const jail = sandbox === 'bwrap' ? 'in bwrap' : 'WITHOUT A SANDBOX, as extension_host.allow_unsandboxed says';
  return `${about}; node ${runtime.version} (${runtime.path}) ${jail}, pid ${pid}, memory ${memory}, ready after ${Math.round(startMs)} ms`;
}

/** Lines about the processes that run plugins. */
export function healthLines(report: PluginHostReport | undefined): readonly string[] {
  return (report?.hosts ?? []).map(processLine);
}

function pluginLines({ state, why, generation, contentHash, tools, commands, entries, diagnostics }: LivePlugin): readonly string[] {
  const failed = entries.filter(({ status }) => status === 'failed');
  return [
    `running: ${state}${why === '' ? '' : `, ${displayText(why, 500)}`} (activation ${generation}, content ${contentHash.slice(0, 16)})`,
    ...(tools.length > 0 ? [`tools: ${tools.join(', ')}`] : []),
    ...(commands.length > 0 ? [`commands: ${commands.map((name) => `/${name}`).join(', ')}`] : []),
    ...failed.map(({ entry, diagnostic }) => `entry ${displayText(entry, 200)} failed: ${displayText(diagnostic, 500)}`),
    ...diagnostics.map(({ at, level, text }) => `${new Date(at).toISOString()} ${level}: ${text}`),
  ];
}

/** What the commands on plugins tell of those that run in this process. */
export function livePlugins(board: PluginBoard): LivePlugins {
  return {
    lines: (name) => (board.report()?.plugins ?? []).filter((plugin) => plugin.name === name).flatMap(pluginLines),
    health: () => healthLines(board.report()),
    async reload() {
      await board.reload();
      const states = (board.report()?.plugins ?? []).map(
        ({ name, state, why }) => `${name} is ${state}${why === '' ? '' : `: ${displayText(why, 500)}`}`,
      );
      return states.length === 0 ? ['No plugin with code is on.'] : states;
    },
  };
}
