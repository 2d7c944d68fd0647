import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach } from 'vitest';
import { createHttpClient } from '../../../adapters/http/index.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import type { HttpClient } from '../../../ports/http.ts';
import type { Plugin, ToolResult, ToolSpec } from '../../../ports/plugin.ts';

const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A server on loopback, and the paths that it was asked for. Ends with the test. */
export async function serve(listener: RequestListener): Promise<{ readonly host: string; readonly asked: string[] }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  );
  return { host: `127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

export function client(options: Parameters<typeof createHttpClient>[0]): HttpClient {
  const made = createHttpClient(options);
  closers.push(() => made.close());
  return made;
}

/** The one tool of a plugin with the given name, and what a model is told about it. */
export async function toolOf(plugin: Plugin, services: object, name: string): Promise<{ readonly spec: ToolSpec; readonly bytes: number }> {
  const registry = createToolRegistry();
  await plugin.apply({ ...services, tools: registry.registrar(plugin.name) } as never, {});
  const spec = registry.get(name)?.spec;
  if (spec === undefined) throw new Error(`${plugin.name} has no tool ${name}`);
  const told = registry.definitions().find((definition) => definition.name === name);
  return { spec, bytes: Buffer.byteLength(JSON.stringify(told)) };
}

export interface Called {
  readonly value: Readonly<Record<string, unknown>>;
  readonly failed: boolean;
  readonly source: string | undefined;
}

export async function callTool(spec: ToolSpec, input: object, signal: AbortSignal = new AbortController().signal): Promise<Called> {
  const exec = { signal, callId: 'c', args: input, workspace: '/', dataDir: '/' };
  const result = (await spec.execute(input as never, exec)) as ToolResult;
  return { value: JSON.parse(result.content), failed: result.failed === true, source: result.source };
}
