import type { ArtifactReader } from '../../ports/artifact.ts';
import { isOdekError } from '../../ports/errors.ts';
import { definePlugin, defineTool, type ToolExecution, type ToolResult } from '../../ports/plugin.ts';

interface ReadInput {
  readonly id: string;
  readonly offset?: number;
}

const MAX_ID_CHARS = 160;
/** A page of 64 KiB, of which each character may take six in JSON, and what is told about it. */
const MAX_RESULT_CHARS = 400_000;

/** What tools handed over by reference, page by page. */
export default definePlugin({
  name: 'artifact',
  inject: ['tools', 'artifacts'],
  apply({ tools, artifacts }) {
    tools.register(
      defineTool<ReadInput>({
        name: 'artifact_read',
        description:
          'Read a text artifact that an earlier result of this session names in a line [artifact <id> · …]. Gives 64 KiB from byte offset on; next_offset is there while more follows.',
        parameters: {
          type: 'object',
          properties: {
            id: { type: 'string', minLength: 1, maxLength: MAX_ID_CHARS },
            offset: { type: 'integer', minimum: 0 },
          },
          required: ['id'],
          additionalProperties: false,
        },
        maxResultChars: MAX_RESULT_CHARS,
        effects: () => ({}),
        execute: (input, exec) => read(artifacts, input, exec),
      }),
    );
  },
});

async function read(artifacts: ArtifactReader, { id, offset = 0 }: ReadInput, exec: ToolExecution): Promise<ToolResult> {
  const source = `artifact:${id}`;
  try {
    const { mediaType, sizeBytes, nextOffset, text, ...page } = await artifacts.read({
      session: exec.sessionId ?? '',
      id,
      offset,
      signal: exec.signal,
    });
    const more = nextOffset !== undefined && { next_offset: nextOffset };
    return {
      content: JSON.stringify({ id, media_type: mediaType, size_bytes: sizeBytes, offset: page.offset, ...more, content: text }),
      source,
    };
  } catch (error) {
    if (!isOdekError(error) || error.code === 'cancelled') throw error;
    return { content: JSON.stringify({ error: error.message }), failed: true, source };
  }
}
