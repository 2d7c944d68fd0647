import type { JsonSchema } from '../../ports/message.ts';
import { isFields } from './fields.ts';
import { headerText } from './http-headers.ts';

/** An argument that a tool wants to see in a header, too. */
export interface ParameterHeader {
  readonly path: readonly string[];
  readonly header: string;
}

const KEY = 'x-mcp-header';
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/;
const TYPES = new Set(['string', 'integer', 'boolean']);
const MAX_DEPTH = 32;

/** Whether a schema speaks of headers at all: most do not, and need no walk. */
function mentions(schema: JsonSchema): boolean {
  return JSON.stringify(schema).includes(`"${KEY}"`);
}

/**
 * The arguments that a tool's schema wants repeated in headers; text says why the definition is wrong. They may
 * only stand at properties of properties, each name once, for strings, integers and booleans.
 */
export function parameterHeadersOf(schema: JsonSchema): readonly ParameterHeader[] | string {
  if (!mentions(schema)) return [];
  const found: ParameterHeader[] = [];
  const names = new Set<string>();
  const visit = (node: unknown, path: readonly string[]): string | undefined => {
    if (!isFields(node) || path.length > MAX_DEPTH) return undefined;
    if (Object.hasOwn(node, KEY) && path.length > 0) {
      const header = node[KEY];
      if (typeof header !== 'string' || !TOKEN.test(header)) return `${KEY} of ${path.join('.')} is no name of a header`;
      if (typeof node.type !== 'string' || !TYPES.has(node.type))
        return `${KEY} of ${path.join('.')} is for a string, an integer or a boolean only`;
      if (names.has(header.toLowerCase())) return `${KEY} ${header} is given twice`;
      names.add(header.toLowerCase());
      found.push({ path, header });
    }
    for (const [key, child] of Object.entries(isFields(node.properties) ? node.properties : {})) {
      const fault = visit(child, [...path, key]);
      if (fault !== undefined) return fault;
    }
    return undefined;
  };
  const fault = visit(schema, []);
  if (fault !== undefined) return fault;
  // One more anywhere else makes the definition wrong.
  return declarations(schema) === found.length ? found : `${KEY} stands where no argument is`;
}

/** How many schemas carry the key. A property of that name is none. */
function declarations(node: unknown, isPropertyMap = false): number {
  if (Array.isArray(node)) return node.reduce((sum: number, each) => sum + declarations(each), 0);
  if (!isFields(node)) return 0;
  let sum = !isPropertyMap && Object.hasOwn(node, KEY) ? 1 : 0;
  for (const [key, child] of Object.entries(node)) {
    const isData = !isPropertyMap && (key === 'const' || key === 'enum' || key === 'default' || key === 'examples');
    if (!isData) sum += declarations(child, !isPropertyMap && key === 'properties');
  }
  return sum;
}

/** The headers of one call. An argument that is absent or null has none. */
export function headersOf(declared: readonly ParameterHeader[], input: unknown): Readonly<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const { path, header } of declared) {
    let value: unknown = input;
    for (const key of path) value = isFields(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    const plain = typeof value === 'string' || typeof value === 'boolean' || Number.isSafeInteger(value);
    if (plain) headers[`mcp-param-${header}`] = headerText(String(value));
  }
  return headers;
}
