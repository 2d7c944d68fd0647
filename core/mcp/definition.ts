import { isOdekError, OdekError } from '../../ports/errors.ts';
import type { Hash } from '../../ports/hash.ts';
import type { McpServer, McpToolDefinition } from '../../ports/mcp.ts';
import type { JsonSchema } from '../../ports/message.ts';
import type { SchemaCheck, SchemaValidator } from '../../ports/schema.ts';
import { displayText } from '../approvals/display.ts';
import { scanInjection } from '../injection/scan.ts';
import { headChars } from '../results/utf8.ts';
import { wrapUntrusted } from '../untrusted/wrapper.ts';
import { type DefinitionDigest, digestOf } from './fingerprint.ts';
import { type McpToolName, mcpSource } from './names.ts';
import { modelParameters } from './parameters.ts';
import { MAX_STEPS, stepsOf } from './schema-steps.ts';
import { injectedText, isKnownDialect, MAX_SCHEMA_BYTES } from './schema-text.ts';

/** A definition that passed every check. Nothing in `definition` is trusted; what a model gets stands beside it. */
export interface CheckedTool {
  readonly name: McpToolName;
  readonly definition: McpToolDefinition;
  readonly digest: DefinitionDigest;
  /** For the model: wrapped as untrusted, or a placeholder. */
  readonly description: string;
  /** The scan found something in the description, and the model gets none. */
  readonly descriptionWithheld: boolean;
  /** For the model: an object at the root, references resolved, every value with a type. */
  readonly parameters: JsonSchema;
  /** Of the schema as the server gave it. Absent: nothing can check it here, the server does. */
  readonly checkInput?: SchemaCheck;
  readonly checkOutput?: SchemaCheck;
}

/** A tool that is left out, and why. */
export interface RefusedTool {
  readonly tool: string;
  /** One sentence without its end, safe to show. */
  readonly reason: string;
}

export interface CheckedDefinitions {
  readonly tools: readonly CheckedTool[];
  readonly refused: readonly RefusedTool[];
  /** One line each, safe to show: refused tools, withheld descriptions, checks that are off. */
  readonly warnings: readonly string[];
}

export interface DefinitionDeps {
  readonly hash: Hash;
  readonly validator: SchemaValidator;
}

/** Characters of a description that the model gets; all of it is scanned and hashed. */
const MAX_DESCRIPTION_CHARS = 8 * 1024;
const MAX_MODEL_SCHEMA_CHARS = 512 * 1024;
const MAX_REASON_CHARS = 300;
const NONCE_CHARS = 16;
const NO_DESCRIPTION = '(The server gives no description.)';
const WITHHELD = 'Its description is withheld: it reads like instructions to the model. The tool can be called by its name and parameters.';

/**
 * Checks every definition of a listing on its own: one bad tool never removes another. `names` are the
 * names of `definitions`, in their order (see `mcpToolNames`, which ends the start for a bad one).
 * Never rejects.
 */
export async function checkDefinitions(
  server: McpServer,
  definitions: readonly McpToolDefinition[],
  names: readonly McpToolName[],
  deps: DefinitionDeps,
): Promise<CheckedDefinitions> {
  const tools: CheckedTool[] = [];
  const refused: RefusedTool[] = [];
  const warnings: string[] = [];
  for (const [index, definition] of definitions.entries()) {
    const name = names[index];
    if (name === undefined) continue;
    const label = `MCP server "${server.name}", tool "${name.tool}"`;
    try {
      const { tool, notes } = await checkOne(name, definition, deps);
      tools.push(tool);
      warnings.push(...notes.map((note) => `${label}: ${note}`));
    } catch (error) {
      const reason = reasonOf(error);
      refused.push({ tool: name.tool, reason });
      warnings.push(`${label} is left out: ${reason}`);
    }
  }
  return { tools, refused, warnings };
}

function refusal(reason: string, details: { value?: unknown; limit?: unknown; cause?: unknown } = {}): OdekError {
  return new OdekError('mcp_definition_refused', reason, details);
}

function reasonOf(error: unknown): string {
  const told = error instanceof Error ? error.message : String(error);
  return displayText(isOdekError(error) ? told : `it could not be read: ${told}`, MAX_REASON_CHARS);
}

async function checkOne(name: McpToolName, definition: McpToolDefinition, deps: DefinitionDeps) {
  const { inputSchema, outputSchema, description } = definition;
  checkRoot(inputSchema);
  const digest = digestOf(definition, deps.hash);
  if (digest.schemaBytes > MAX_SCHEMA_BYTES) {
    const limit = { value: digest.schemaBytes, limit: MAX_SCHEMA_BYTES };
    throw refusal(`its schema has ${digest.schemaBytes} bytes, the limit is ${MAX_SCHEMA_BYTES}`, limit);
  }
  const injected = injectedText(inputSchema);
  if (injected !== undefined)
    throw refusal(`its schema has text that reads like orders to the model (${injected.rule}: ${injected.excerpt})`);
  checkSteps(inputSchema);
  const parameters = modelParameters(inputSchema);
  if (JSON.stringify(parameters).length > MAX_MODEL_SCHEMA_CHARS) {
    throw refusal(`its schema has more than ${MAX_MODEL_SCHEMA_CHARS} characters without its references`, {
      limit: MAX_MODEL_SCHEMA_CHARS,
    });
  }
  const notes: string[] = [];
  const checkInput = await inputCheck(inputSchema, deps, notes);
  const checkOutput = outputSchema === undefined ? undefined : await outputCheck(outputSchema, deps, notes);
  const [hit] = scanInjection(description);
  if (hit !== undefined) notes.push(`its description is withheld (${hit.rule}: ${hit.excerpt})`);
  const tool: CheckedTool = {
    name,
    definition,
    digest,
    description: hit === undefined ? wrapped(name, description, digest) : WITHHELD,
    descriptionWithheld: hit !== undefined,
    parameters,
    ...(checkInput && { checkInput }),
    ...(checkOutput && { checkOutput }),
  };
  return { tool, notes };
}

function checkRoot(schema: unknown): void {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) throw refusal('its input schema is no JSON object');
  const { type } = schema as { readonly type?: unknown };
  if (type === undefined || [type].flat().includes('object')) return;
  throw refusal(`its input schema is of type ${displayText(JSON.stringify(type), 80)}; arguments are an object`, { value: type });
}

/** A schema of a few lines can be made so that checking one value against it takes years. */
function checkSteps(schema: JsonSchema): void {
  const steps = stepsOf(schema);
  if (steps <= MAX_STEPS) return;
  const told = Number.isFinite(steps) ? `takes ${steps} steps for one value, the limit is ${MAX_STEPS}` : 'refers to itself without end';
  throw refusal(`its schema ${told}`, { value: steps, limit: MAX_STEPS });
}

/** The same definition has the same text at each start, so that a provider may reuse what it cached. No server can know the nonce while it writes the text. */
function wrapped({ server, tool }: McpToolName, description: string, { sha256 }: DefinitionDigest): string {
  if (description.trim() === '') return NO_DESCRIPTION;
  const head = headChars(description, MAX_DESCRIPTION_CHARS);
  const cut = description.length - head.length;
  const text = cut === 0 ? head : `${head}\n[odek: ${cut} more characters of this description are left out]`;
  return wrapUntrusted(text, mcpSource(server, tool), sha256.slice(0, NONCE_CHARS));
}

async function inputCheck(schema: JsonSchema, { validator }: DefinitionDeps, notes: string[]): Promise<SchemaCheck | undefined> {
  if (isKnownDialect(schema.$schema)) return validator.compile(schema);
  notes.push(`its schema is in a dialect that odek does not know (${shownDialect(schema)}); the server alone checks the arguments`);
  return undefined;
}

async function outputCheck(schema: JsonSchema, { validator }: DefinitionDeps, notes: string[]): Promise<SchemaCheck | undefined> {
  try {
    if (isKnownDialect(schema.$schema)) {
      checkSteps(schema);
      return await validator.compile(schema);
    }
    notes.push(`its output schema is in a dialect that odek does not know (${shownDialect(schema)}); its results are not checked`);
  } catch (error) {
    notes.push(`its results are not checked: ${reasonOf(error)}`);
  }
  return undefined;
}

function shownDialect(schema: JsonSchema): string {
  return displayText(JSON.stringify(schema.$schema) ?? '', 120);
}
