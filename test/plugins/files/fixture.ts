import { judgeCall } from '../../../core/approvals/judge.ts';
import { createToolRegistry } from '../../../core/plugins/registry.ts';
import files from '../../../plugins/files/index.ts';
import type { FileSystem } from '../../../ports/file-system.ts';
import type { ToolResult } from '../../../ports/plugin.ts';
import { createMemoryFileSystem } from '../../fakes/file-system.ts';

/** A result with its JSON read. */
export interface CallResult {
  // biome-ignore lint/suspicious/noExplicitAny: the parsed JSON of a result, which tests look into.
  readonly value: any;
  readonly failed: boolean;
  readonly source: string | undefined;
}

/** The file tools over a file system, called by name the way the loop does: judged first. */
export function fileTools<Fs extends FileSystem>(fs: Fs) {
  const registry = createToolRegistry();
  files.apply({ tools: registry.registrar('files'), fs }, {});
  return {
    fs,
    registry,
    async call(name: string, input: object, signal: AbortSignal = new AbortController().signal): Promise<CallResult> {
      const tool = registry.get(name);
      if (!tool) throw new Error(`no tool ${name}`);
      await judgeCall({ tool: tool.spec, input, fs, policy: { classes: {}, allowlist: [], denylist: [], nonInteractive: 'allow' } });
      const exec = { signal, callId: 'c1', args: input, workspace: '/project', dataDir: '/data' };
      const result = (await tool.spec.execute(input as never, exec)) as ToolResult;
      return { value: JSON.parse(result.content), failed: result.failed === true, source: result.source };
    },
  };
}

export const memoryTools = () => fileTools(createMemoryFileSystem());

/** Letters `a` and `b` without a pattern, the same every time. */
export function noise(length: number): string {
  let state = 1;
  return Array.from({ length }, () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    return state & 0x10000 ? 'a' : 'b';
  }).join('');
}
