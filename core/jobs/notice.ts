import type { FinishedJob } from './job.ts';

const MAX_COMMAND_CHARS = 80;
const MAX_TOLD = 16;
const MAX_TAIL_LINES = 5;

/** What the model reads about jobs that ended. The text holds what commands wrote: it is not trusted. */
export function finishedNotice(finished: readonly FinishedJob[]): string {
  const lines = finished.slice(0, MAX_TOLD).flatMap(lineOf);
  const more = finished.length > MAX_TOLD ? [`and ${finished.length - MAX_TOLD} more: see bg_list`] : [];
  return [`[bg] ${finished.length} background job(s) finished since last check:`, ...lines, ...more].join('\n');
}

function lineOf({ view, tail }: FinishedJob): string[] {
  const code = view.exitCode === undefined ? '' : ` (code ${view.exitCode})`;
  const head = `${view.id} \`${commandHead(view.command)}\` → ${view.status}${code} after ${duration(view.runtimeMs)}`;
  const shown = tail
    .split(/\r?\n|\r/)
    .filter((line) => line.trim() !== '')
    .slice(-MAX_TAIL_LINES);
  return [head, ...shown.map((line) => `  ${line}`)];
}

/** The beginning of a command on one line. */
export function commandHead(command: string): string {
  const points = [...command.replace(/\s+/g, ' ').trim()];
  return points.length <= MAX_COMMAND_CHARS ? points.join('') : `${points.slice(0, MAX_COMMAND_CHARS - 1).join('')}…`;
}

function duration(ms: number): string {
  const seconds = Math.round(ms / 100) / 10;
  if (seconds < 60) return `${seconds}s`;
  const whole = Math.round(ms / 1000);
  return whole < 3600 ? `${Math.floor(whole / 60)}m${whole % 60}s` : `${Math.floor(whole / 3600)}h${Math.floor((whole % 3600) / 60)}m`;
}
