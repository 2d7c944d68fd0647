import { type McpServerFactory, ProtocolError, ProtocolErrorCode, type Tool } from '@modelcontextprotocol/server';
import type { ToolDefinition } from '../../ports/llm.ts';
import { odekVersion } from '../cli/version.ts';
import { createSdkServer } from './sdk-server.ts';

/** What a client is given instead of a result. */
export interface ServedResult {
  readonly text: string;
  readonly isError: boolean;
}

/** The tools behind a server. */
export interface ServedTools {
  list(): readonly ToolDefinition[];
  has(name: string): boolean;
  /** Does not reject; where it does, the client learns no more than that it did. */
  call(name: string, input: unknown, signal: AbortSignal): Promise<ServedResult>;
  /** Returns what stops the telling. */
  onChange(listener: () => void): () => void;
}

const SHOWN_NAME = 128;
const PANICKED: ServedResult = { text: 'tool handler panicked', isError: true };

function asTool({ name, description, parameters }: ToolDefinition): Tool {
  return { name, description, inputSchema: parameters as Tool['inputSchema'] };
}

function invalidParams(message: string): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, message);
}

/** There is always one page. */
function refuseCursor(params: { readonly cursor?: string | undefined } | undefined): void {
  if (params?.cursor !== undefined) throw invalidParams(`unknown cursor ${JSON.stringify(params.cursor.slice(0, SHOWN_NAME))}`);
}

/**
 * Makes the server of one connection, or of one request where there are no connections. Resources and
 * prompts are there for clients that ask, and empty.
 */
export function serverFactory(tools: ServedTools): McpServerFactory {
  const version = odekVersion();
  return ({ era, requestInfo }) => {
    const product = createSdkServer(
      { name: 'odek', version },
      {
        capabilities: { tools: { listChanged: true }, resources: {}, prompts: {} },
        schemaOf: (name) => tools.list().find((tool) => tool.name === name)?.parameters,
      },
    );
    const { server } = product;
    server.setRequestHandler('tools/list', ({ params }) => {
      refuseCursor(params);
      return { tools: tools.list().map(asTool) };
    });
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      if (!tools.has(params.name)) throw invalidParams(`unknown tool ${JSON.stringify(params.name.slice(0, SHOWN_NAME))}`);
      const { text, isError } = await tools.call(params.name, params.arguments ?? {}, context.mcpReq.signal).catch(() => PANICKED);
      return { content: [{ type: 'text' as const, text }], ...(isError && { isError }) };
    });
    server.setRequestHandler('resources/list', ({ params }) => {
      refuseCursor(params);
      return { resources: [] };
    });
    server.setRequestHandler('resources/templates/list', ({ params }) => {
      refuseCursor(params);
      return { resourceTemplates: [] };
    });
    server.setRequestHandler('resources/read', ({ params }) => {
      throw invalidParams(`there are no resources, asked for ${JSON.stringify(params.uri.slice(0, SHOWN_NAME))}`);
    });
    server.setRequestHandler('prompts/list', ({ params }) => {
      refuseCursor(params);
      return { prompts: [] };
    });
    server.setRequestHandler('prompts/get', ({ params }) => {
      throw invalidParams(`there are no prompts, asked for ${JSON.stringify(params.name.slice(0, SHOWN_NAME))}`);
    });
    // A server that lives for one request has nobody to tell; its clients subscribe at the HTTP front.
    if (era === 'legacy' || requestInfo === undefined) {
      const stop = tools.onChange(() => void server.sendToolListChanged().catch(() => {}));
      server.onclose = stop;
    }
    return product;
  };
}
