import type { Registration } from '../../ports/extension-host.ts';
import { utf8Length } from '../results/utf8.ts';
import { LIMITS } from './limits.ts';
import { bundlePathFault, commandNameFault, sectionIdFault, serverNameFault, toolNameFault } from './names.ts';

/** Hidden and steering characters; line breaks and tabs are text. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u;

function hasHidden(text: string, allowed = /[\n\t]/g): boolean {
  return HIDDEN.test(text.replaceAll(allowed, ''));
}

function isOneLine(text: string): boolean {
  return !HIDDEN.test(text);
}

function over(what: string, bytes: number, limit: number): string | undefined {
  return bytes > limit ? `${what} has ${bytes} bytes, the limit is ${limit}` : undefined;
}

function schemaFault(what: string, schema: unknown): string | undefined {
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema)) return `${what} must be a JSON Schema object`;
  return over(what, utf8Length(JSON.stringify(schema)), LIMITS.schemaBytes);
}

function toolFault(spec: Extract<Registration, { kind: 'tool' }>): string | undefined {
  const { name, description, input_schema, output_schema, max_result_chars } = spec;
  if (description.trim() === '') return `tool "${name}" has no description`;
  if (hasHidden(description)) return `the description of tool "${name}" has control or hidden characters`;
  if (max_result_chars !== undefined && !(Number.isInteger(max_result_chars) && max_result_chars > 0)) {
    return `tool "${name}" has maxResultChars ${max_result_chars}; it must be a positive number`;
  }
  const faults = [
    over(`the description of tool "${name}"`, utf8Length(description), LIMITS.toolDescriptionBytes),
    schemaFault(`the input schema of tool "${name}"`, input_schema),
    output_schema === undefined ? undefined : schemaFault(`the output schema of tool "${name}"`, output_schema),
    input_schema.type === 'object' ? undefined : `the input schema of tool "${name}" must say "type": "object"`,
  ];
  return faults.find((fault) => fault !== undefined);
}

function commandFault({ name, description, argument_hint }: Extract<Registration, { kind: 'command' }>): string | undefined {
  if (description.trim() === '' || !isOneLine(description)) return `the description of command "${name}" must be one line of text`;
  if (argument_hint !== undefined && !isOneLine(argument_hint)) return `the argument hint of command "${name}" must be one line of text`;
  return (
    over(`the description of command "${name}"`, utf8Length(description), LIMITS.commandDescriptionBytes) ??
    over(`the argument hint of command "${name}"`, utf8Length(argument_hint ?? ''), LIMITS.argumentHintBytes)
  );
}

function sectionFault({ name, text }: Extract<Registration, { kind: 'prompt_section' }>): string | undefined {
  if (text.trim() === '') return `section "${name}" is empty`;
  if (hasHidden(text)) return `section "${name}" must be plain text, without control or hidden characters`;
  return over(`section "${name}"`, utf8Length(text), LIMITS.sectionBytes);
}

/** What is wrong with what a plugin wants to register, taken by itself; undefined when nothing is. */
export function registrationFault(spec: Registration, builtInCommands: ReadonlySet<string>): string | undefined {
  switch (spec.kind) {
    case 'tool':
      return toolNameFault(spec.name) ?? toolFault(spec);
    case 'command':
      return commandNameFault(spec.name, builtInCommands) ?? commandFault(spec);
    case 'prompt_section':
      return sectionIdFault(spec.name) ?? sectionFault(spec);
    case 'skill_root':
      return bundlePathFault(spec.name, LIMITS.skillRootBytes);
    case 'mcp_server':
      return (
        serverNameFault(spec.name) ??
        over(`the definition of server "${spec.name}"`, utf8Length(JSON.stringify(spec.server)), LIMITS.mcpServerBytes)
      );
    case 'hook':
      return spec.name === 'tools/pre-execute' ? undefined : `there is no such hook`;
  }
}

/** A plugin's section with the facts of a turn in it, where it asked for them. Each fact is put in once. */
export function expandedSection(
  text: string,
  interpolate: 'model-cwd' | undefined,
  facts: { readonly model: string; readonly cwd: string },
): string {
  if (interpolate === undefined) return text;
  return text.replaceAll(/\{\{(model|cwd)\}\}/g, (_, fact: 'model' | 'cwd') => facts[fact]);
}
