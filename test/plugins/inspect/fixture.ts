import { createToolRegistry } from '../../../core/plugins/registry.ts';
import inspect from '../../../plugins/inspect/index.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import { createMemoryFileSystem } from '../../fakes/file-system.ts';

/** A result with its JSON read. */
interface CallResult {
  // biome-ignore lint/suspicious/noExplicitAny: the parsed JSON of a result, which tests look into.
  readonly value: any;
  readonly failed: boolean;
  readonly source: string | undefined;
  readonly chars: number;
}

/** The tools over a file system, called by name. */
export function inspectTools<Fs extends FileSystem>(fs: Fs) {
  const registry = createToolRegistry();
  inspect.apply({ tools: registry.registrar('inspect'), fs }, {});
  return {
    fs,
    registry,
    async call(name: string, input: object, signal: AbortSignal = new AbortController().signal): Promise<CallResult> {
      const tool = registry.get(name);
      if (!tool) throw new Error(`no tool ${name}`);
      const exec = { signal, callId: 'c1', args: input, workspace: '/project', dataDir: '/data' };
      const { content, failed = false, source } = (await tool.spec.execute(input as never, exec)) as ToolResult;
      return { value: JSON.parse(content), failed, source, chars: content.length };
    },
  };
}

export const memoryTools = () => inspectTools(createMemoryFileSystem());
