import { type Context, Service } from '@deepseek-ai/cordis';
import type { Registration } from '../../ports/extension-host.ts';
import type { JsonSchema } from '../../ports/message.ts';
import { type Fields, fieldsOf, functionOf, isFields, jsonOf, textOf } from './fields.ts';
import type { Link } from './link.ts';
import type { Owner } from './owners.ts';
import type { Registrations } from './registrations.ts';

/** A tool as its plugin gave it. */
export interface Tool {
  execute(input: unknown, exec: object): unknown;
  readonly outputSchema?: JsonSchema;
  render?(output: unknown): unknown;
}

export interface ToolAnswer {
  readonly content: string;
  readonly failed: boolean;
}

const MAX_SCHEMA = 64 * 1024;
const MAX_DESCRIPTION = 4_096;
/** `effects` are not sent: what a plugin says of itself is not believed. */
const KNOWN = ['name', 'description', 'parameters', 'execute', 'output', 'deferLoading', 'effects', 'maxResultChars', 'ordered'];
/** Of other hosts; what they would do is refused here instead of being left out in silence. */
const RESULT_MEMBERS = ['content', 'failed', 'source', 'artifacts'];

/** The service `tools`. */
export function toolsService(registrations: Registrations): new (ctx: Context) => Service {
  class Tools extends Service {
    constructor(ctx: Context) {
      super(ctx, 'tools');
    }

    register(definition: unknown, options: unknown = {}): () => void {
      if (!isFields(options) || Object.keys(options).length > 0)
        throw new TypeError('options of a tool registration are not supported here');
      const { spec, tool } = toolOf(definition);
      return registrations.offer(this.ctx, spec, tool);
    }
  }
  return Tools;
}

function toolOf(definition: unknown): { readonly spec: Registration; readonly tool: Tool } {
  const fields = fieldsOf(definition, 'a tool', KNOWN);
  const name = textOf(fields.name, 'the name of a tool', { max: 64, min: 1 });
  const what = `tool "${name}"`;
  const description = textOf(fields.description, `the description of ${what}`, { max: MAX_DESCRIPTION, min: 1 });
  const schema = schemaOf(fields.parameters, `parameters of ${what}`);
  const execute = functionOf<Tool['execute']>(fields.execute, `execute of ${what}`);
  if (fields.deferLoading !== undefined && typeof fields.deferLoading !== 'boolean')
    throw new TypeError(`deferLoading of ${what} must be true or false`);
  const chars = fields.maxResultChars;
  if (chars !== undefined && (!Number.isSafeInteger(chars) || (chars as number) < 1))
    throw new TypeError(`maxResultChars of ${what} must be a positive integer`);
  const output = outputOf(fields.output, what);
  return {
    spec: {
      ...{ kind: 'tool', name, description, input_schema: schema },
      ...(output?.schema !== undefined && { output_schema: output.schema }),
      ...(chars !== undefined && { max_result_chars: chars as number }),
    },
    tool: {
      execute: (input, exec) => execute.call(definition as Tool, input, exec),
      ...(output?.schema !== undefined && { outputSchema: output.schema }),
      ...(output?.render !== undefined && { render: output.render }),
    },
  };
}

function schemaOf(value: unknown, what: string): JsonSchema {
  if (!isFields(value)) throw new TypeError(`${what} must be a JSON Schema`);
  return jsonOf(value, what, MAX_SCHEMA) as JsonSchema;
}

/** Either a schema, or a schema together with what makes text of a result. */
function outputOf(
  value: unknown,
  what: string,
): { readonly schema: JsonSchema; readonly render?: (output: unknown) => unknown } | undefined {
  if (value === undefined) return undefined;
  if (!isFields(value) || !('render' in value || isFields(value.schema))) return { schema: schemaOf(value, `output of ${what}`) };
  const fields = fieldsOf(value, `output of ${what}`, ['schema', 'render']);
  return {
    schema: schemaOf(fields.schema, `output.schema of ${what}`),
    render: functionOf<(output: unknown) => unknown>(fields.render, `output.render of ${what}`),
  };
}

/** Makes the text of a result, after core has checked a canonical one. */
export async function answerOf(tool: Tool, result: unknown, owner: Owner, link: Link): Promise<ToolAnswer> {
  if (tool.outputSchema === undefined) return plainAnswer(result);
  const output = jsonOf(result === undefined ? null : result, 'the result', Number.POSITIVE_INFINITY);
  const { issues } = await link.ask<{ readonly issues: readonly string[] }>('schema/check', {
    owner: owner.ref,
    schema: tool.outputSchema,
    value: output,
  });
  if (issues.length > 0) throw new TypeError(`the result does not fit the tool's output schema: ${issues.join('; ')}`);
  return tool.render === undefined
    ? { content: JSON.stringify(output), failed: false }
    : { content: renderedText(await tool.render(output)), failed: false };
}

function plainAnswer(result: unknown): ToolAnswer {
  if (typeof result === 'string') return { content: result, failed: false };
  if (result === undefined) return { content: '', failed: false };
  if (isFields(result) && typeof result.content === 'string' && Object.keys(result).every((name) => RESULT_MEMBERS.includes(name))) {
    return { content: result.content, failed: result.failed === true };
  }
  return { content: JSON.stringify(jsonOf(result, 'the result', Number.POSITIVE_INFINITY)), failed: false };
}

/** Text, or blocks of text. Anything richer is an error, so that nothing is lost unseen. */
function renderedText(rendered: unknown): string {
  if (typeof rendered === 'string') return rendered;
  const blocks = Array.isArray(rendered) ? rendered : [rendered];
  return blocks.map((block: unknown) => (typeof block === 'string' ? block : textBlock(block))).join('\n');
}

function textBlock(block: unknown): string {
  const fields: Fields = fieldsOf(block, 'a block of output.render', ['type', 'text']);
  if (fields.type !== 'text' || typeof fields.text !== 'string') throw new TypeError('output.render can give text alone');
  return fields.text;
}
