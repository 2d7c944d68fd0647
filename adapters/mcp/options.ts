import type { HttpClient } from '../../ports/http.ts';
import type { McpHttpServer, McpServer } from '../../ports/mcp.ts';
import type { McpAuthorization } from './http-dial.ts';
import type { ProcessTrees, Redaction } from './process-trees.ts';
import type { McpEra } from './session.ts';

/** What is known of servers whose protocol is `auto`. */
export interface Eras {
  get(key: string): McpEra | undefined;
  /** Undefined: what was known proved wrong. */
  set(key: string, era: McpEra | undefined): void;
}

/** Told about what a connection sees beside its messages. Every text is redacted and cut. */
export interface McpObserver {
  /** A line of a server's standard error. */
  stderr?(server: McpServer, line: string): void;
  /** A line of standard output that was no message; the first ones of a process. */
  noise?(server: McpServer, line: string): void;
  /** Names that `env` gives and the server does not get, since they look like secrets. */
  stripped?(server: McpServer, names: readonly string[]): void;
}

export interface McpConnectorOptions {
  /** odek's version, told to the servers. */
  readonly version: string;
  /** The variables of a child: the allow-listed ones and the given ones, without any secret-looking name. */
  readonly childEnvironment: (added: Readonly<Record<string, string>>) => Readonly<Record<string, string>>;
  readonly trees: ProcessTrees;
  readonly redaction: Redaction;
  /** The client for a server's URL: guarded, with the exemption that the server's origin gives it. The caller closes it. */
  readonly http: (server: McpHttpServer) => HttpClient;
  /** Where a server's bearer token comes from. Absent: none is sent. */
  readonly authorization?: (server: McpHttpServer) => McpAuthorization | undefined;
  /** What is known of servers whose protocol is `auto`, beyond this process. Keys are opaque; neither function may throw. */
  readonly eras?: Eras;
  readonly observer?: McpObserver;
  /** Milliseconds from the end of standard input to the kill (5,000). */
  readonly closeGraceMs?: number;
}
