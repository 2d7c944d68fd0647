/** One line of the table. `ratio` and `limit` belong together: at most `limit`, or at least where `atLeast` says so. */
export interface Row {
  readonly what: string;
  readonly odek: string;
  /** What it is measured against: the bare loop, or `node -e 0`. */
  readonly bare: string;
  readonly ratio?: number;
  readonly limit?: number;
  /** A bound on odek's own figure, where no ratio is asked for. */
  readonly bound?: { readonly value: number; readonly text: string; readonly kept: boolean };
}

export function isKept(row: Row): boolean {
  if (row.bound !== undefined) return row.bound.kept;
  if (row.ratio === undefined || row.limit === undefined) return true;
  return row.ratio <= row.limit;
}

/** The rows as a Markdown table, the form in which docs/performance.md holds them. */
export function formatTable(rows: readonly Row[]): string {
  const lines = rows.map((row) => {
    const ratio = row.ratio === undefined ? '–' : row.ratio.toFixed(2);
    const aim = row.bound?.text ?? (row.limit === undefined ? '–' : `≤ ${row.limit}`);
    return [row.what, row.odek, row.bare, ratio, aim, isKept(row) ? 'yes' : 'no'];
  });
  const head = ['figure', 'odek', 'against', 'ratio', 'aim', 'kept'];
  return [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
