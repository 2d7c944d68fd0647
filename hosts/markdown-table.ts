/** A Markdown table with aligned columns, as the formatter writes it. */
export function markdownTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const escaped = [head, ...rows].map((cells) => cells.map((cell) => cell.replaceAll('|', '\\|')));
  const widths = head.map((_, column) => Math.max(3, ...escaped.map((cells) => (cells[column] ?? '').length)));
  const line = (cells: readonly string[], fill: string): string =>
    `| ${widths.map((width, column) => (cells[column] ?? '').padEnd(width, fill)).join(' | ')} |`;
  const [top = [], ...body] = escaped;
  return [line(top, ' '), line([], '-'), ...body.map((cells) => line(cells, ' '))].join('\n');
}
