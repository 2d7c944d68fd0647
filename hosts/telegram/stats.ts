import type { Clock } from '../../ports/clock.ts';
import type { RunEvent } from '../../ports/event.ts';
import type { RunResult } from '../../ports/run.ts';
import { counted, formatDuration, formatTokens } from '../cli/render/figures.ts';

const MAX_TOOLS = 12;

/** What a run did so far. */
export interface Tally {
  see(event: RunEvent): void;
  readonly iterations: number;
  /** By name, in the order of first use. */
  readonly tools: ReadonlyMap<string, number>;
  /** Milliseconds since it began. */
  readonly age: number;
}

export function tallyOf(clock: Pick<Clock, 'monotonic'>): Tally {
  const startedAt = clock.monotonic();
  const tools = new Map<string, number>();
  let iterations = 0;
  return {
    see(event) {
      if (event.type === 'iteration_started') iterations = event.iteration;
      if (event.type === 'tool_call_started' && event.tool !== undefined) tools.set(event.tool, (tools.get(event.tool) ?? 0) + 1);
    },
    get iterations() {
      return iterations;
    },
    tools,
    get age() {
      return clock.monotonic() - startedAt;
    },
  };
}

function toolsText({ tools }: Tally): string {
  const named = [...tools].slice(0, MAX_TOOLS).map(([name, count]) => (count === 1 ? name : `${name} ×${count}`));
  return tools.size > MAX_TOOLS ? `${named.join(', ')}, …` : named.join(', ');
}

/** `✅ Done · 3 turns · 12.3k in / 1.2k out · cache 8.0k · 12.4 s — tools: shell ×2`, as a block of code. */
export function statsText({ iterations, usage, duration_ms: ms, outcome }: RunResult, tally: Tally): string {
  const cache = (usage.cache_read ?? 0) + (usage.cache_write ?? 0);
  const approximately = usage.estimated ? '~' : '';
  const figures = [
    outcome === 'answer' ? '✅ Done' : `⚠️ ${outcome[0]?.toUpperCase()}${outcome.slice(1)}`,
    counted(iterations, 'turn'),
    `${approximately}${formatTokens(usage.input)} in / ${approximately}${formatTokens(usage.output)} out`,
    ...(cache > 0 ? [`cache ${formatTokens(cache)}`] : []),
    formatDuration(ms),
  ];
  const tools = toolsText(tally);
  return `\`\`\`\n${figures.join(' · ')}${tools === '' ? '' : ` — tools: ${tools}`}\n\`\`\``;
}

/** What is said of a run that a person ended. */
export function interruptedText(tally: Tally): string {
  const tools = toolsText(tally);
  const did = `${counted(tally.iterations, 'turn')} in ${formatDuration(tally.age)}${tools === '' ? '' : `, tools: ${tools}`}`;
  return `⏹️ **Task Interrupted**\n\n${did}. What was done until then is kept; write again to go on.`;
}
