import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';
import type { Confinement, ProcessResult, ProcessRunner } from '../../ports/process.ts';

interface ShellInput {
  readonly command: string;
  readonly description?: string;
}

const MAX_STREAM_BYTES = 1024 * 1024;
const MINUTE_MS = 60_000;
const TIME_LIMIT_MS = 30 * MINUTE_MS;
/** The call's own limit lies above the command's, so that a command that overran is told with its output. */
const CALL_LIMIT_MS = TIME_LIMIT_MS + MINUTE_MS;

/** `shell`: one command line, run by `sh -c` in the working directory. */
export function shellTool(runner: ProcessRunner): ToolSpec {
  return defineTool<ShellInput>({
    name: 'shell',
    description: `Run a command with sh -c in the working directory: builds, tests, git, programs. Not interactive; 30 min and 1 MiB a stream at most. Returns stdout then stderr; what it leaves running is stopped. For files prefer read_file, search_files, glob and patch.${confinedText(runner.confinement)}`,
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        description: { type: 'string', description: 'What it does, in a few words' },
      },
      required: ['command'],
    },
    timeoutMs: CALL_LIMIT_MS,
    effects: ({ command }) => ({ command }),
    async execute({ command }, { signal, workspace }) {
      const result = await runner.run({ command, cwd: workspace, maxBytes: MAX_STREAM_BYTES, timeoutMs: TIME_LIMIT_MS }, signal);
      return resultOf(command, result);
    },
  });
}

/** What a model has to know of the sandbox. */
function confinedText(confinement: Confinement | undefined): string {
  if (confinement === undefined) return '';
  const { backend, network, readonly, workspace } = confinement;
  const writable = [...(readonly ? [] : ['the working directory']), '/tmp'].join(' and ');
  const place = backend === 'docker' ? ` The working directory is ${workspace} there.` : '';
  return ` Runs in a sandbox${network ? '' : ' without network'}; only ${writable} can be written.${place}`;
}

function resultOf(command: string, result: ProcessResult): ToolResult {
  const output = [kept(result.stdout, result.stdoutTruncated), kept(result.stderr, result.stderrTruncated)]
    .map((text) => text.trim())
    .filter((text) => text !== '')
    .join('\n');
  const ending = endingOf(result);
  const left = result.leftovers === true ? ['[what the command left running was stopped; use bg_start for what should go on]'] : [];
  const content = [output || '(no output)', ...(ending === undefined ? [] : [ending]), ...left].join('\n');
  return { content, source: `$ ${command}`, ...(ending === undefined ? {} : { failed: true }) };
}

function kept(text: string, truncated: boolean): string {
  return truncated ? `${text}\n... [output truncated]` : text;
}

/** How the command failed; undefined when it did not. */
function endingOf(result: ProcessResult): string | undefined {
  if (result.timedOut) return `killed: it ran longer than ${TIME_LIMIT_MS / MINUTE_MS} minutes`;
  if (result.signal !== undefined) return `killed by ${result.signal}`;
  return result.exitCode === 0 ? undefined : `exit status ${result.exitCode}`;
}
