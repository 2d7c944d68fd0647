import { createSystemClock } from '../../adapters/clock/system.ts';
import { createRandomIds } from '../../adapters/ids/random.ts';
import { createRedactor } from '../../core/redact/redactor.ts';
import { ConfigError } from '../../ports/errors.ts';
import type { LlmProvider, ModelInfo } from '../../ports/llm.ts';
import { selectProvider } from '../config/select.ts';
import type { ResolvedConfig } from '../config/types.ts';
import { type ResolvedWindow, resolveWindow } from '../model-windows.ts';
import { outsideAdapters } from '../outside.ts';
import { createProvider } from '../provider.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { loadTold, warner } from './host.ts';
import { onInterrupt } from './interrupt.ts';
import { cellWidth } from './render/cells.ts';
import { sanitiseLine } from './render/sanitise.ts';

interface ModelRow {
  readonly id: string;
  readonly name?: string;
  readonly context_window: number | null;
  readonly source: ResolvedWindow['source'];
  readonly max_output_tokens: number | null;
}

/** `odek models [--provider <id>] [--json]`: what the provider offers, and where each window was found. */
export async function run(context: CommandContext): Promise<number> {
  const config = await loadTold(context);
  const selection = selectProvider(config, { needsModel: false });
  const clock = createSystemClock();
  const log = (_level: string, text: string): void => warner(context)(text);
  const provider = await createProvider(
    { config, selection },
    await outsideAdapters(config),
    createRedactor(config.secrets),
    clock,
    createRandomIds(),
    { log },
  );
  try {
    const rows = (await ask(provider)).map((model) => rowOf(model, provider, config));
    const out = context.args.flags.json === true ? jsonOf(selection.id, rows) : tableOf(selection.id, rows);
    context.io.stdout.write(out);
    return EXIT.ok;
  } finally {
    await provider.close();
  }
}

async function ask(provider: LlmProvider): Promise<readonly ModelInfo[]> {
  if (provider.models === undefined) {
    throw new ConfigError('no_model_list', `provider "${provider.name}" cannot list its models`, { value: provider.name });
  }
  const interrupt = onInterrupt();
  try {
    return await provider.models(interrupt.signal);
  } finally {
    interrupt.stop();
  }
}

function rowOf(model: ModelInfo, provider: LlmProvider, config: ResolvedConfig): ModelRow {
  const { contextWindow: _, ...rest } = model;
  // What `limits` knows without having asked: the configuration, then the table.
  const { tokens, source } = resolveWindow(config.llm.context_window, provider.limits(model.id), model);
  return {
    id: model.id,
    ...(rest.name === undefined ? {} : { name: rest.name }),
    context_window: tokens ?? null,
    source,
    max_output_tokens: model.maxOutputTokens ?? provider.limits(model.id).maxOutputTokens ?? null,
  };
}

function jsonOf(provider: string, models: readonly ModelRow[]): string {
  return `${JSON.stringify({ provider, models })}\n`;
}

const HEAD = ['Model', 'Context window', 'Found in', 'Longest answer', 'Name'] as const;

function tableOf(provider: string, models: readonly ModelRow[]): string {
  if (models.length === 0) return `${provider} lists no models.\n`;
  const count = (tokens: number | null): string => (tokens === null ? '-' : tokens.toLocaleString('en-US'));
  const rows = models.map(({ id, name, context_window, source, max_output_tokens }) => [
    sanitiseLine(id),
    count(context_window),
    source,
    count(max_output_tokens),
    sanitiseLine(name ?? ''),
  ]);
  const all = [HEAD, ...rows];
  const widths = HEAD.map((_, column) => Math.max(...all.map((cells) => cellWidth(cells[column] ?? ''))));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + ' '.repeat(Math.max(0, (widths[column] ?? 0) - cellWidth(cell))))
      .join('  ')
      .trimEnd();
  return `${all.map(line).join('\n')}\n`;
}
