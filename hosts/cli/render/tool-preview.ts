import type { ArgsSummary } from '../../../ports/event.ts';
import { truncateCells } from './cells.ts';
import { sanitiseLine } from './sanitise.ts';

/** Arguments that say most about a call, in the order they are looked for. */
const TELLING_KEYS = ['command', 'path', 'pattern', 'query', 'url', 'paths', 'files', 'file', 'name', 'id'] as const;

/** Arguments longer than this are not parsed for a preview. */
const MAX_PARSED_CHARS = 262_144;
const MAX_SOURCE_CHARS = 2_000;

const GLYPHS: Readonly<Record<string, string>> = {
  read_file: '📖',
  write_file: '📝',
  patch: '🩹',
  search_files: '🔍',
  glob: '📂',
  file_info: '📎',
  shell: '💻',
  plan: '📋',
};
const OTHER_GLYPH = '🔧';

/** Two cells, whatever the tool. */
export function toolGlyph(tool: string): string {
  return Object.hasOwn(GLYPHS, tool) ? (GLYPHS[tool] ?? OTHER_GLYPH) : OTHER_GLYPH;
}

function asText(value: unknown): string | undefined {
  if (typeof value === 'string' && value !== '') return value;
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'string')) return value.join(' ');
  return undefined;
}

function parseObject(args: string): Record<string, unknown> | undefined {
  if (args.length > MAX_PARSED_CHARS) return undefined;
  try {
    const value: unknown = JSON.parse(args);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

function fromArgs(args: string): string {
  const object = parseObject(args);
  if (object === undefined) return args;
  const values = [...TELLING_KEYS.map((key) => object[key]), ...Object.values(object)];
  const texts = values.map(asText).filter((text) => text !== undefined);
  const first = texts[0];
  if (first === undefined) return Object.keys(object).length === 0 ? '' : args;
  // A search says what it looks for and where.
  const path = asText(object.path);
  return typeof object.pattern === 'string' && path !== undefined ? `${object.pattern} in ${path}` : first;
}

function fromSummary(summary: ArgsSummary): string {
  return asText(summary.path) ?? summary.argv0 ?? summary.host ?? '';
}

/** The call's arguments in at most `width` cells of one line. */
export function argsPreview(args: string | undefined, summary: ArgsSummary | undefined, width: number): string {
  const source = args === undefined ? fromSummary(summary ?? {}) : fromArgs(args);
  return truncateCells(sanitiseLine(source.slice(0, MAX_SOURCE_CHARS)), width);
}
