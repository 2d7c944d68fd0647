/** How much room text takes on a terminal, and how it is cut and wrapped. Text is sanitised before it gets here. */

/** A piece of text and the SGR parameters it is shown with; `''` for none. */
export interface Span {
  readonly text: string;
  readonly sgr: string;
}

interface Cluster {
  readonly text: string;
  readonly width: number;
  readonly sgr: string;
}

/**
 * Text in which each code unit is a character of one cell: ASCII, Latin, dashes, quotes, box drawing and
 * odek's own marks. Nearly all text is, and making a segmenter costs 7 ms of every start.
 */
const SIMPLE = /^[\t\n\x20-\x7e\u00a1-\u00a8\u00aa-\u00ac\u00af-\u02af\u2010-\u2027\u2500-\u257f✓✗⊘]*$/;
const ZERO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}\u1160-\u11ff]+$/u;
const EMOJI = /\p{Emoji_Presentation}|\p{Extended_Pictographic}\ufe0f|\p{Emoji_Modifier_Base}\p{Emoji_Modifier}|[0-9#*]\ufe0f\u20e3/u;
const TAB_STOP = 4;

/** East Asian Wide and Fullwidth, merged to ranges; pairs of first and last code point. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0x303e],
  [0x3041, 0x33ff],
  [0x3400, 0x4dbf],
  [0x4e00, 0x9fff],
  [0xa000, 0xa4cf],
  [0xa960, 0xa97f],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe10, 0xfe19],
  [0xfe30, 0xfe6f],
  [0xff01, 0xff60],
  [0xffe0, 0xffe6],
  [0x16fe0, 0x18cff],
  [0x1aff0, 0x1b2ff],
  [0x20000, 0x3fffd],
];

let segmenter: Intl.Segmenter | undefined;

function isWide(code: number): boolean {
  return code >= 0x1100 && WIDE.some(([first, last]) => code >= first && code <= last);
}

function clusterWidth(cluster: string): number {
  const code = cluster.codePointAt(0) ?? 0;
  if (code < 0x7f && cluster.length === 1) return code < 0x20 ? 0 : 1;
  if (ZERO_WIDTH.test(cluster)) return 0;
  return isWide(code) || EMOJI.test(cluster) ? 2 : 1;
}

/** The characters a person sees, in order. */
export function graphemes(text: string): string[] {
  if (SIMPLE.test(text)) return text.split('');
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'grapheme' });
  return Array.from(segmenter.segment(text), (part) => part.segment);
}

/** Cells that `text` takes on one line. */
export function cellWidth(text: string): number {
  if (SIMPLE.test(text)) return text.replace(/[\t\n]/g, '').length;
  return graphemes(text).reduce((sum, cluster) => sum + clusterWidth(cluster), 0);
}

/** `text` in at most `width` cells, ending in `…` where something was cut. */
export function truncateCells(text: string, width: number): string {
  if (cellWidth(text) <= width) return text;
  if (width < 1) return '';
  let used = 0;
  let kept = '';
  for (const cluster of graphemes(text)) {
    used += clusterWidth(cluster);
    if (used > width - 1) break;
    kept += cluster;
  }
  return `${kept}…`;
}

function toClusters(spans: readonly Span[]): Cluster[] {
  return spans.flatMap(({ text, sgr }) =>
    graphemes(text.replaceAll('\t', ' '.repeat(TAB_STOP))).map((cluster) => ({ text: cluster, width: clusterWidth(cluster), sgr })),
  );
}

/** The index after which `line` may be broken so that a word stays whole; 0 when there is none. */
function lastBreak(line: readonly Cluster[]): number {
  for (let index = line.length - 1; index >= 0; index -= 1) {
    const cluster = line[index];
    if (cluster?.text === ' ' || (cluster?.width === 2 && index < line.length - 1)) return index + 1;
  }
  return 0;
}

function trimEnd(line: Cluster[]): Cluster[] {
  let end = line.length;
  while (end > 0 && line[end - 1]?.text === ' ') end -= 1;
  return line.slice(0, end);
}

function breakLine(line: Cluster[], next: Cluster): { done: Cluster[]; rest: Cluster[] } {
  if (next.text === ' ') return { done: line, rest: [] };
  const at = next.width === 2 ? line.length : lastBreak(line) || line.length;
  return { done: trimEnd(line.slice(0, at)), rest: line.slice(at) };
}

function sumWidth(line: readonly Cluster[]): number {
  return line.reduce((sum, cluster) => sum + cluster.width, 0);
}

/**
 * Breaks at spaces and between wide characters, inside a word only where it is longer than a
 * line. A newline breaks. Gives at least one line; each is at most `width` (at least 2) cells.
 */
export function wrapSpans(spans: readonly Span[], width: number): Span[][] {
  const room = Math.max(2, width);
  const lines: Cluster[][] = [];
  let line: Cluster[] = [];
  let used = 0;
  for (const cluster of toClusters(spans)) {
    if (cluster.text === '\n') {
      lines.push(line);
      line = [];
      used = 0;
      continue;
    }
    if (used + cluster.width > room) {
      const { done, rest } = breakLine(line, cluster);
      lines.push(done);
      line = rest;
      used = sumWidth(rest);
      if (cluster.text === ' ' && line.length === 0) continue;
    }
    line.push(cluster);
    used += cluster.width;
  }
  lines.push(line);
  return lines.map(joinClusters);
}

function joinClusters(line: readonly Cluster[]): Span[] {
  const spans: { text: string; sgr: string }[] = [];
  for (const cluster of line) {
    const last = spans.at(-1);
    if (last?.sgr === cluster.sgr) last.text += cluster.text;
    else spans.push({ text: cluster.text, sgr: cluster.sgr });
  }
  return spans;
}

/** Plain text, wrapped. */
export function wrapText(text: string, width: number): string[] {
  return wrapSpans([{ text, sgr: '' }], width).map((line) => line.map((span) => span.text).join(''));
}
