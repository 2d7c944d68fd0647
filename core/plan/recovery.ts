/** The same tool failing three times in a row: advice by the kind of failure. Advice only, never enforcement. */
import type { ToolOutcome } from '../../ports/message.ts';

interface RecoveryHint {
  readonly text: string;
  /** Detail of the `tool_recovery` signal. */
  readonly detail: string;
}

export interface RecoveryMonitor {
  /** `result` is the text the call gave, from which only the wording of the advice is chosen. */
  observe(call: { readonly tool: string; readonly outcome: ToolOutcome; readonly result: string }): RecoveryHint | undefined;
}

const FAILURES_IN_A_ROW = 3;
const MAX_TOOLS = 64;
/** Code units of a result that are searched. */
const SEARCHED_CHARS = 4_096;

export function createRecoveryMonitor(): RecoveryMonitor {
  const failures = new Map<string, number>();
  return {
    observe({ tool, outcome, result }) {
      if (outcome === 'completed') failures.delete(tool);
      if (outcome !== 'failed') return undefined;
      const count = (failures.get(tool) ?? 0) + 1;
      failures.delete(tool);
      if (count >= FAILURES_IN_A_ROW) {
        return {
          text: `${tool} failed ${count} times in a row. ${adviceFor(tool, result)}`,
          detail: `${tool} failed ${count} times in a row`,
        };
      }
      failures.set(tool, count);
      const oldest = failures.size > MAX_TOOLS ? failures.keys().next().value : undefined;
      if (oldest !== undefined) failures.delete(oldest);
      return undefined;
    },
  };
}

function adviceFor(tool: string, result: string): string {
  const text = result.slice(0, SEARCHED_CHARS).toLowerCase();
  if (text.includes('is a directory')) return 'The path is a directory: list it with tree, or look inside with search_files.';
  if (tool === 'shell' && text.includes('exit status')) return 'The command keeps failing: read its output and take a different approach.';
  if (text.includes('not found') || text.includes('no such file'))
    return 'The path does not exist: find the right one with search_files or glob.';
  if (text.includes('binary')) return 'The file is binary: use base64 or checksum.';
  return 'Check its arguments against its description, or try another tool.';
}
