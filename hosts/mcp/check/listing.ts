import type { SchemaValidator } from '../../../ports/schema.ts';
import type { Check, ListedTool } from './line.ts';
import type { Peer } from './peer.ts';

const MAX_PAGES = 1_000;
const MAX_TOOLS = 10_000;
const MAX_SCHEMA_BYTES = 256 * 1024;
const NAME = /^[A-Za-z0-9_-]{1,64}$/;
const SHOWN = 5;

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

async function listAll(peer: Peer): Promise<{ readonly tools: readonly unknown[]; readonly fault?: string }> {
  const tools: unknown[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { result, error } = await peer.request('tools/list', cursor === undefined ? {} : { cursor });
    if (!Array.isArray(result?.tools))
      return { tools, fault: `page ${page + 1} has no list of tools${error ? `: ${String(error.message)}` : ''}` };
    tools.push(...result.tools);
    if (tools.length > MAX_TOOLS) return { tools, fault: `more than ${MAX_TOOLS} tools` };
    const next = result.nextCursor;
    if (next === undefined) return { tools };
    if (typeof next !== 'string') return { tools, fault: `nextCursor of page ${page + 1} is no text` };
    if (seen.has(next)) return { tools, fault: `nextCursor of page ${page + 1} was there before: the pages have no end` };
    seen.add(next);
    cursor = next;
  }
  return { tools, fault: `more than ${MAX_PAGES} pages` };
}

function faultsOf(tools: readonly ListedTool[], fault: (tool: ListedTool) => string | undefined): string | undefined {
  const faults = tools.flatMap((tool) => {
    const text = fault(tool);
    return text === undefined ? [] : [`${JSON.stringify(tool.name).slice(0, 80)} ${text}`];
  });
  if (faults.length === 0) return undefined;
  return `${faults.slice(0, SHOWN).join('; ')}${faults.length > SHOWN ? `; and ${faults.length - SHOWN} more` : ''}`;
}

async function schemaFault({ inputSchema }: ListedTool, validator: SchemaValidator): Promise<string | undefined> {
  if (!isObject(inputSchema)) return 'has no inputSchema';
  if (inputSchema.type !== 'object') return `has an inputSchema of type ${JSON.stringify(inputSchema.type)}`;
  const bytes = Buffer.byteLength(JSON.stringify(inputSchema));
  if (bytes > MAX_SCHEMA_BYTES) return `has an inputSchema of ${bytes} bytes, the limit is ${MAX_SCHEMA_BYTES}`;
  try {
    await validator.compile(inputSchema);
    return undefined;
  } catch (error) {
    return `has an inputSchema that is no usable JSON Schema: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** The listing: its pages, names, descriptions and schemas. Gives the tools that have a name. */
export async function checkListing(peer: Peer, validator: SchemaValidator, check: Check): Promise<readonly ListedTool[]> {
  let tools: readonly ListedTool[] = [];
  await check('listing', 'listing', 'lists its tools, in pages that end', async () => {
    const listed = await listAll(peer);
    tools = listed.tools.filter((tool): tool is Record<string, unknown> & ListedTool => isObject(tool) && typeof tool.name === 'string');
    if (listed.fault !== undefined) return listed.fault;
    if (tools.length < listed.tools.length) return `${listed.tools.length - tools.length} tools have no name`;
    return tools.length === 0 ? 'there are no tools' : undefined;
  });
  await check('names', 'names', 'names are 1 to 64 of A-Z a-z 0-9 _ -, without __', () =>
    faultsOf(tools, ({ name }) => (NAME.test(name) && !name.includes('__') ? undefined : 'is no name')),
  );
  await check('names.once', 'names', 'gives each name once', () => {
    const names = tools.map(({ name }) => name);
    return faultsOf(
      tools.filter(({ name }, index) => names.indexOf(name) !== index),
      () => 'is there more than once',
    );
  });
  await check('descriptions', 'listing', 'describes each tool', () =>
    faultsOf(tools, ({ description }) => (typeof description === 'string' && description.trim() !== '' ? undefined : 'has no description')),
  );
  await check('schemas', 'listing', 'has a usable schema for the arguments of each tool', async () => {
    const faults = new Map<ListedTool, string | undefined>();
    for (const tool of tools) faults.set(tool, await schemaFault(tool, validator));
    return faultsOf(tools, (tool) => faults.get(tool));
  });
  return tools;
}
