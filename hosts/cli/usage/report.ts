/** What `odek usage` prints: a table by model and charts, in the room that the terminal has. */
import type { UsageTotal } from '../../../ports/usage.ts';
import { cellWidth, truncateCells } from '../render/cells.ts';
import { formatCost, formatTokens } from '../render/figures.ts';
import { sanitiseLine } from '../render/sanitise.ts';

/** The ledger in the groups that the report shows. */
export interface UsageFigures {
  /** By provider, model and purpose. */
  readonly calls: readonly UsageTotal[];
  readonly days: readonly UsageTotal[];
  readonly models: readonly UsageTotal[];
  readonly surfaces: readonly UsageTotal[];
  /** One, or none where there was no call. */
  readonly total: readonly UsageTotal[];
}

const HEAD = ['Provider', 'Model', 'Use', 'Calls', 'In', 'Out', 'Cached', 'Cost'] as const;
/** From this column on, figures stand at the right. */
const FIRST_FIGURE = 3;
const NAME_CELLS = 32;
const LABEL_CELLS = 24;
const MIN_BAR = 10;
const MAX_BAR = 48;
const MAX_BARS = 31;
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];

function name(text: string | undefined, cells: number): string {
  return truncateCells(sanitiseLine(text ?? ''), cells);
}

/** `$0.0123`, `unknown`, or both where the price of some calls is not known. */
export function costText({ costMicroUsd, unpriced, calls }: UsageTotal): string {
  if (costMicroUsd === undefined || unpriced === calls) return 'unknown';
  const known = formatCost(costMicroUsd / 1_000_000);
  return unpriced === 0 ? known : `${known} + unknown`;
}

function cachedText({ cacheRead }: UsageTotal): string {
  return cacheRead === undefined ? 'unknown' : formatTokens(cacheRead);
}

function mark(total: UsageTotal, text: string): string {
  return total.estimated > 0 ? `~${text}` : text;
}

function figures(total: UsageTotal): string[] {
  const input = total.input + (total.cacheRead ?? 0) + (total.cacheWrite ?? 0);
  return [
    String(total.calls),
    mark(total, formatTokens(input)),
    mark(total, formatTokens(total.output)),
    cachedText(total),
    mark(total, costText(total)).replace('~unknown', 'unknown'),
  ];
}

function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = HEAD.map((_, column) => Math.max(...rows.map((row) => cellWidth(row[column] ?? ''))));
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const room = ' '.repeat(Math.max(0, (widths[column] ?? 0) - cellWidth(cell)));
        return column >= FIRST_FIGURE ? room + cell : cell + room;
      })
      .join('  ')
      .trimEnd(),
  );
}

function table({ calls, total }: UsageFigures): string[] {
  const rows = calls.map((each) => [name(each.provider, NAME_CELLS), name(each.model, NAME_CELLS), each.purpose ?? '', ...figures(each)]);
  const sum = calls.length > 1 ? total.map((each) => ['Total', '', '', ...figures(each)]) : [];
  return aligned([HEAD, ...rows, ...sum]);
}

function tokens(total: UsageTotal): number {
  return total.input + (total.cacheRead ?? 0) + (total.cacheWrite ?? 0) + total.output;
}

function bar(share: number, width: number): string {
  const eighths = Math.max(1, Math.round(share * width * EIGHTHS.length));
  return '█'.repeat(Math.floor(eighths / EIGHTHS.length)) + (EIGHTHS[eighths % EIGHTHS.length] ?? '');
}

interface Bar {
  readonly label: string;
  readonly total: UsageTotal;
}

/** Every bar is of the same scale. `omitted` says how many there are beyond those shown. */
function chart(title: string, { bars, omitted }: { bars: readonly Bar[]; omitted: number }, columns: number): string[] {
  const most = Math.max(1, ...bars.map(({ total }) => tokens(total)));
  const label = Math.max(...bars.map((each) => cellWidth(each.label)));
  const tail = bars.map(({ total }) => `${mark(total, formatTokens(tokens(total)))}  ${costText(total)}`);
  const room = columns - label - 4 - Math.max(...tail.map(cellWidth));
  const width = Math.min(MAX_BAR, Math.max(MIN_BAR, room));
  return [
    title,
    ...bars.map(({ label: text, total }, at) => {
      const drawn = bar(tokens(total) / most, width);
      return `${text}${' '.repeat(label - cellWidth(text))}  ${drawn.padEnd(width)}  ${tail[at]}`;
    }),
    ...(omitted > 0 ? [`(${omitted} more not shown)`] : []),
  ];
}

function newest(days: readonly UsageTotal[]): { bars: readonly Bar[]; omitted: number } {
  const bars = days.slice(-MAX_BARS).map((total) => ({ label: total.day ?? '', total }));
  return { bars, omitted: days.length - bars.length };
}

function most(totals: readonly UsageTotal[], label: (total: UsageTotal) => string | undefined): { bars: readonly Bar[]; omitted: number } {
  const sorted = [...totals].sort((a, b) => tokens(b) - tokens(a)).slice(0, MAX_BARS);
  return { bars: sorted.map((total) => ({ label: name(label(total), LABEL_CELLS), total })), omitted: totals.length - sorted.length };
}

function notes({ total }: UsageFigures): string[] {
  const [all] = total;
  if (all === undefined) return [];
  return [
    ...(all.estimated > 0 ? [`~ ${all.estimated} of ${all.calls} calls were not measured by the provider; odek estimated them.`] : []),
    ...(all.unpriced > 0 ? ['unknown: no price is configured for the model; see model_prices.'] : []),
  ];
}

/** The lines of the report. `columns` is the width of the terminal in cells. */
export function usageReport(found: UsageFigures, columns: number): readonly string[] {
  if (found.total.length === 0) return ['No model calls in this time.'];
  const parts = [
    table(found),
    chart('Tokens by day', newest(found.days), columns),
    chart(
      'Tokens by model',
      most(found.models, ({ model }) => model),
      columns,
    ),
    chart(
      'Tokens by surface',
      most(found.surfaces, ({ surface }) => surface),
      columns,
    ),
    notes(found),
  ];
  return parts.filter((part) => part.length > 0).flatMap((part, at) => (at === 0 ? part : ['', ...part]));
}
