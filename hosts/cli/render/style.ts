import type { Span } from './cells.ts';

/** SGR parameters by role. */
export const SGR = {
  plain: '',
  dim: '2',
  bold: '1',
  italic: '3',
  underline: '4',
  strike: '9',
  code: '36',
  good: '32',
  bad: '31',
  caution: '33',
} as const;

/** Turns spans into text for one stream: with escapes where it shows colour, without anywhere else. */
export interface Painter {
  readonly color: boolean;
  paint(sgr: string, text: string): string;
  line(spans: readonly Span[]): string;
}

/** Where markdown is drawn. `width` in cells. */
export interface MarkdownTarget {
  readonly width: number;
  readonly painter: Painter;
}

export function createPainter(color: boolean): Painter {
  const paint = (sgr: string, text: string): string => (color && sgr !== '' && text !== '' ? `\u001b[${sgr}m${text}\u001b[0m` : text);
  return { color, paint, line: (spans) => spans.map(({ text, sgr }) => paint(sgr, text)).join('') };
}

/** Adds `sgr` to what a span already has. */
export function addSgr(outer: string, inner: string): string {
  return [outer, inner].filter((part) => part !== '').join(';');
}
