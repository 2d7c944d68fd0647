import type { McpCallResult, McpContent } from '../../ports/mcp.ts';
import type { SchemaCheck } from '../../ports/schema.ts';
import { readEnvelope } from '../artifacts/envelope.ts';
import { flattenedLine } from '../artifacts/line.ts';
import { type ArtifactRef, refList } from '../artifacts/ref.ts';

/** What a result says to the model, and what it refers to. */
export interface McpResultText {
  readonly text: string;
  readonly artifacts: readonly ArtifactRef[];
}

const MAX_PARTS = 1000;
const MAX_LINE_CHARS = 300;
const NOTHING = '(no output)';

function metadata(label: string, ...facts: readonly (string | undefined)[]): string {
  const told = facts.filter((fact) => fact !== undefined && fact !== '').map((fact) => flattenedLine(fact as string, MAX_LINE_CHARS));
  return `[${[label, ...told].join(' · ')}]`;
}

/** Of anything but text one line is told. */
function lineOf(part: Exclude<McpContent, { type: 'text' }>): string {
  switch (part.type) {
    case 'resource_link':
      return metadata('resource link', part.name, part.uri);
    case 'resource':
      return metadata('resource', part.uri, part.mimeType);
    default:
      return metadata(part.type, part.mimeType, `${part.bytes} bytes`);
  }
}

function textOf(part: McpContent): McpResultText {
  if (part.type === 'text') return readEnvelope(part.text);
  const line = lineOf(part);
  return { text: part.type === 'resource' && part.text !== undefined ? `${line}\n${part.text}` : line, artifacts: [] };
}

/**
 * The text of a result: its text parts, one line for each other part, and its structured content where
 * there is nothing else.
 *
 * @throws {ArtifactError} `artifact_refused` for an envelope or a reference that breaks the contract
 */
export function resultText({ content, structured }: McpCallResult, checkOutput: SchemaCheck | undefined): McpResultText {
  const parts = content.slice(0, MAX_PARTS).map(textOf);
  const left = content.length - MAX_PARTS;
  const texts = parts.map(({ text }) => text).filter((text) => text !== '');
  if (texts.length === 0 && structured !== undefined && parts.every(({ artifacts }) => artifacts.length === 0)) {
    const only = readEnvelope(JSON.stringify(structured));
    parts.push(only);
    texts.push(only.text);
  }
  const note = structured === undefined ? undefined : brokenRule(structured, checkOutput);
  const notes = [...(left > 0 ? [`[odek: ${left} more parts are left out]`] : []), ...(note === undefined ? [] : [note])];
  const artifacts = refList(parts.flatMap((part) => part.artifacts));
  const lines = [...texts, ...notes];
  return { text: lines.length === 0 && artifacts.length === 0 ? NOTHING : lines.join('\n'), artifacts };
}

/** A result that breaks its own schema happened all the same: the model is told, and may still use it. */
function brokenRule(structured: unknown, check: SchemaCheck | undefined): string | undefined {
  const [issue] = check?.(structured) ?? [];
  if (issue === undefined) return undefined;
  return `[odek: the structured result does not keep to the tool's output schema: ${flattenedLine(`${issue.path} ${issue.message}`, MAX_LINE_CHARS)}]`;
}
