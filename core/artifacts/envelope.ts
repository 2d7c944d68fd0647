import { ArtifactError } from '../../ports/artifact.ts';
import { type ArtifactRef, readRefs } from './ref.ts';

const SCHEMA = 'odek.tool-result/v1';
/** JSON may write the slash in three ways. */
const MENTION = /odek\.tool-result(?:\\?\/|\\u002f)v1/i;
const CLAIM = /^\s*\{[\s\S]*"schema"\s*:\s*"odek\.tool-result(?:\\?\/|\\u002f)v1"/i;

/** What a tool's text says. A plain text has no artifacts. */
export interface ResultText {
  readonly text: string;
  readonly artifacts: readonly ArtifactRef[];
}

/**
 * Reads one text of a result. JSON whose `schema` is `odek.tool-result/v1` is an envelope, in which
 * unknown fields are ignored; every other text is plain and stays as it is.
 *
 * @throws {ArtifactError} `artifact_refused` for an envelope that is malformed JSON, has no text, or has
 * an artifact that is not as the contract says
 */
export function readEnvelope(text: string): ResultText {
  const envelope = MENTION.test(text) ? parsed(text) : undefined;
  if (envelope === undefined || envelope.schema !== SCHEMA) return { text, artifacts: [] };
  if (typeof envelope.text !== 'string') throw new ArtifactError('artifact_refused', `the ${SCHEMA} envelope has no text`);
  return { text: envelope.text, artifacts: readRefs(envelope.artifacts) };
}

function parsed(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch (cause) {
    if (!CLAIM.test(text)) return undefined;
    throw new ArtifactError('artifact_refused', `the ${SCHEMA} envelope is malformed JSON`, { cause });
  }
}
