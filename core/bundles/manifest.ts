import { type BundleNamespace, NO_CAPABILITIES, readNamespace } from './namespace.ts';
import { type BundleProblem, isObject, problemList, type Report, shown } from './problem.ts';

/** The manifest schemas that are understood, each with the schema that its `mcp.json` may name. */
const SCHEMAS: Readonly<Record<string, string>> = {
  'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json': 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json',
  'https://agent-plugins.org/schemas/plugin.json': 'https://agent-plugins.org/schemas/mcp.json',
};
export const CANONICAL_SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/plugin.schema.json';
export const CANONICAL_MCP_SCHEMA = 'https://agent-plugins.org/schemas/1.0.0/mcp.schema.json';

/** Our part of `extensions`, and one that is read in its place where it is absent. */
export const NAMESPACE = 'dev.odek';
export const NAMESPACE_ALIAS = 'net.codewhale';

export const BUNDLE_NAME = /^(?!.*(?:--|\.\.))[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/;
const MAX_NAME = 64;
const TEXT_FIELDS = ['version', 'description', 'homepage', 'repository', 'license'] as const;
const AUTHOR_FIELDS = ['name', 'email', 'url'];
const KNOWN: readonly string[] = ['$schema', 'name', 'author', 'keywords', 'extensions', ...TEXT_FIELDS];
const WHERE = 'plugin.json';

/** A manifest that passed. Texts are as written, so that they have to be made safe before they are shown. */
export interface BundleManifest extends BundleNamespace {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  readonly homepage?: string;
  readonly repository?: string;
  readonly license?: string;
  readonly author?: Readonly<Record<string, string>>;
  readonly keywords: readonly string[];
  /** `$schema` values that its `mcp.json` may have. */
  readonly mcpSchemas: readonly string[];
  /** The short spelling of the schema was used: its `mcp.json` may leave `$schema` and `type` out. */
  readonly lenient: boolean;
}

/**
 * Reads `plugin.json` by the rules of Agent Plugins 1.0.0. Unknown fields of the root are told and
 * ignored, other namespaces are not looked into, and anything else that is wrong refuses the bundle.
 */
export function parseManifest(text: string): { readonly manifest?: BundleManifest; readonly problems: readonly BundleProblem[] } {
  const { problems, report } = problemList();
  const root = parsedObject(text, report);
  if (root === undefined) return { problems };
  for (const key of Object.keys(root)) if (!KNOWN.includes(key)) report('note', WHERE, `unknown field ${shown(key)} is ignored`);
  const schema = root.$schema;
  const mcpSchema = typeof schema === 'string' && Object.hasOwn(SCHEMAS, schema) ? SCHEMAS[schema] : undefined;
  if (mcpSchema === undefined) report('refused', `${WHERE}: $schema`, schemaProblem(schema));
  const { name } = root;
  if (typeof name !== 'string' || name.length > MAX_NAME || !BUNDLE_NAME.test(name)) {
    const limit = `1 to ${MAX_NAME} of a-z, 0-9, "-" and ".", with a letter or digit at both ends and neither "--" nor ".."`;
    report('refused', `${WHERE}: name`, `must be ${limit}, not ${shown(name)}`);
  }
  const metadata = readMetadata(root, report);
  const namespace = readExtensions(root.extensions, report);
  if (problems.some(({ severity }) => severity === 'refused')) return { problems };
  return {
    manifest: {
      name: name as string,
      ...metadata,
      ...namespace,
      mcpSchemas: schema === CANONICAL_SCHEMA ? [CANONICAL_MCP_SCHEMA] : [mcpSchema ?? '', CANONICAL_MCP_SCHEMA],
      lenient: schema !== CANONICAL_SCHEMA,
    },
    problems,
  };
}

function parsedObject(text: string, report: Report): Readonly<Record<string, unknown>> | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    report('refused', WHERE, 'is not JSON');
    return undefined;
  }
  if (isObject(value)) return value;
  report('refused', WHERE, `must be an object, not ${shown(value)}`);
  return undefined;
}

function schemaProblem(schema: unknown): string {
  if (schema === undefined) return `is missing; it must be "${CANONICAL_SCHEMA}"`;
  const version = typeof schema === 'string' ? /\/schemas\/(\d+\.\d+\.\d+)\//.exec(schema)?.[1] : undefined;
  if (version !== undefined && version !== '1.0.0') return `names version ${version} of Agent Plugins; this odek reads 1.0.0`;
  return `must be "${CANONICAL_SCHEMA}", not ${shown(schema)}`;
}

type Metadata = Pick<BundleManifest, (typeof TEXT_FIELDS)[number] | 'author' | 'keywords'>;

function readMetadata(root: Readonly<Record<string, unknown>>, report: Report): Metadata {
  const texts: Record<string, string> = {};
  for (const field of TEXT_FIELDS) {
    const value = root[field];
    if (typeof value === 'string') texts[field] = value;
    else if (value !== undefined) report('refused', `${WHERE}: ${field}`, `must be a text, not ${shown(value)}`);
  }
  const author = readAuthor(root.author, report);
  const { keywords = [] } = root;
  const areTexts = Array.isArray(keywords) && keywords.every((each) => typeof each === 'string');
  if (!areTexts) report('refused', `${WHERE}: keywords`, `must be a list of texts, not ${shown(keywords)}`);
  return { ...texts, ...(author !== undefined && { author }), keywords: areTexts ? keywords : [] };
}

function readAuthor(author: unknown, report: Report): Readonly<Record<string, string>> | undefined {
  if (author === undefined) return undefined;
  const where = `${WHERE}: author`;
  if (!isObject(author)) {
    report('refused', where, `must be an object, not ${shown(author)}`);
    return undefined;
  }
  const fields: Record<string, string> = {};
  for (const [key, value] of Object.entries(author)) {
    if (!AUTHOR_FIELDS.includes(key)) report('refused', where, `has the field ${shown(key)}; it may have ${AUTHOR_FIELDS.join(', ')}`);
    else if (typeof value === 'string') fields[key] = value;
    else report('refused', `${where}.${key}`, `must be a text, not ${shown(value)}`);
  }
  return fields;
}

/** Our namespace, or the one that is read in its place. Nothing else of `extensions` is looked at. */
function readExtensions(extensions: unknown, report: Report): BundleNamespace {
  const nothing: BundleNamespace = { native: [], skills: [], capabilities: NO_CAPABILITIES, when: { os: [], binaries: [] } };
  if (extensions === undefined) return nothing;
  if (!isObject(extensions)) {
    report('note', `${WHERE}: extensions`, `is ignored: it must be an object, not ${shown(extensions)}`);
    return nothing;
  }
  const has = (name: string): boolean => Object.hasOwn(extensions, name);
  if (has(NAMESPACE) && has(NAMESPACE_ALIAS)) {
    report('note', `${WHERE}: extensions`, `has both "${NAMESPACE}" and "${NAMESPACE_ALIAS}"; "${NAMESPACE}" counts, the other is ignored`);
  }
  const used = has(NAMESPACE) ? NAMESPACE : NAMESPACE_ALIAS;
  if (!has(used)) return nothing;
  return readNamespace(extensions[used], { where: `${WHERE}: extensions["${used}"]`, foreign: used === NAMESPACE_ALIAS, report });
}
