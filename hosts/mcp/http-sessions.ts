import { type McpServerFactory, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';

/** Clients with a session at the same time. */
export const MAX_SESSIONS = 64;
/** Milliseconds without a request after which a session may be ended. */
const IDLE_MS = 60 * 60_000;

export interface SessionsOptions {
  readonly maxRequestBytes: number;
  readonly maxSessions?: number;
  newId(): string;
  now(): number;
  onError(error: Error): void;
}

/** Answers the clients of the versions that have sessions. */
export interface Sessions {
  handle(request: Request): Promise<Response>;
  readonly size: number;
  close(): Promise<void>;
}

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  close(): Promise<void>;
  /** Requests whose answers are not whole yet. */
  under: number;
  usedAt: number;
}

const HEADER = 'mcp-session-id';

function refusal(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status });
}

/** The response, telling when its body came to an end or nobody reads it any more. */
function withEnd(response: Response, onEnd: () => void): Response {
  if (response.body === null) {
    onEnd();
    return response;
  }
  const reader = response.body.getReader();
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (!done) return controller.enqueue(value);
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      onEnd();
    },
    async cancel(reason) {
      onEnd();
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/**
 * Keeps a server for each session. At the limit the session that was idle longest goes; where none is
 * idle, a new client is refused with 503. An unknown session is 404, so that the client begins anew.
 */
export function createSessions(factory: McpServerFactory, options: SessionsOptions): Sessions {
  const maxSessions = options.maxSessions ?? MAX_SESSIONS;
  const sessions = new Map<string, Session>();
  let opening = 0;

  const makeRoom = (): boolean => {
    const idle = [...sessions].filter(([, { under }]) => under === 0).sort(([, a], [, b]) => a.usedAt - b.usedAt);
    for (const [id, session] of idle) {
      const isOld = options.now() - session.usedAt > IDLE_MS;
      if (!isOld && sessions.size + opening < maxSessions) break;
      sessions.delete(id);
      void session.close();
    }
    return sessions.size + opening < maxSessions;
  };

  const answer = async (session: Session, request: Request): Promise<Response> => {
    session.under += 1;
    const ended = (): void => {
      session.under -= 1;
      session.usedAt = options.now();
    };
    try {
      return withEnd(await session.transport.handleRequest(request), ended);
    } catch (error) {
      ended();
      throw error;
    }
  };

  const open = async (request: Request): Promise<Response> => {
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: options.newId,
      maxRequestBodySize: options.maxRequestBytes,
      onsessioninitialized: (id) => void sessions.set(id, session),
      onsessionclosed: (id) => void sessions.delete(id),
    });
    const server = await factory({ era: 'legacy', requestInfo: request });
    const session: Session = { transport, under: 0, usedAt: options.now(), close: () => server.close().catch(options.onError) };
    await server.connect(transport);
    transport.onerror = options.onError;
    const response = await answer(session, request);
    // What did not become a session has no other owner.
    if (transport.sessionId === undefined || !sessions.has(transport.sessionId)) void session.close();
    return response;
  };

  return {
    async handle(request) {
      const id = request.headers.get(HEADER);
      if (id !== null) {
        const session = sessions.get(id);
        return session === undefined ? refusal(404, -32_001, 'Session not found') : answer(session, request);
      }
      if (request.method !== 'POST') return refusal(400, -32_600, `Bad Request: ${request.method} needs a session`);
      if (!makeRoom()) return refusal(503, -32_000, `${sessions.size} sessions are open and in use, the limit is ${maxSessions}`);
      opening += 1;
      try {
        return await open(request);
      } finally {
        opening -= 1;
      }
    },
    get size() {
      return sessions.size;
    },
    async close() {
      const all = [...sessions.values()];
      sessions.clear();
      await Promise.all(all.map((session) => session.close()));
    },
  };
}
