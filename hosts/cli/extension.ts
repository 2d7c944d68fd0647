import { resolve } from 'node:path';
import { displayText } from '../../core/approvals/display.ts';
import { ConfigError } from '../../ports/errors.ts';
import type { CheckOptions, Line } from '../mcp/check/line.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { onInterrupt } from './interrupt.ts';

const PAGE = 'docs/extensions.md';
const MARK = { pass: 'pass', fail: 'FAIL', skip: 'skip' } as const;

/** `odek extension check <command> [args…]`: compares somebody's server with the contract for extensions. */
export async function run(context: CommandContext): Promise<number> {
  // `check` is the only action, and the parser has seen to it.
  const [, command, ...args] = context.args.positionals;
  if (command === undefined)
    throw new ConfigError('missing_argument', 'odek extension check: which server? odek extension check -- <command> [args…]');
  const [{ checkExtension }, { createSchemaValidator }] = await Promise.all([
    import('../mcp/check/contract.ts'),
    import('../../adapters/schema/ajv.ts'),
  ]);
  const json = context.args.flags.json === true;
  const interrupt = onInterrupt();
  try {
    const lines = await checkExtension({
      command,
      args,
      cwd: context.cwd,
      env: context.env,
      artifactRoots: listOf(context, 'artifact-root').map((root) => resolve(context.cwd, root)),
      ...callOf(context),
      validator: createSchemaValidator(),
      signal: interrupt.signal,
      ...(!json && { onLine: (line: Line) => void context.io.stdout.write(`${rowText(line)}\n`) }),
    });
    if (interrupt.signal.aborted) return EXIT.cancelled;
    context.io.stdout.write(json ? `${JSON.stringify({ ok: isOk(lines), lines })}\n` : `${summaryText(lines)}\n`);
    return isOk(lines) ? EXIT.ok : EXIT.failed;
  } finally {
    interrupt.stop();
  }
}

function listOf({ args }: CommandContext, flag: string): readonly string[] {
  const value = args.flags[flag];
  return Array.isArray(value) ? value : [];
}

/** `--call <tool>` and `--arguments <json>`. */
function callOf({ args }: CommandContext): Pick<CheckOptions, 'call'> {
  const { call, arguments: given } = args.flags;
  if (typeof call !== 'string') return {};
  if (typeof given !== 'string') return { call: { tool: call, input: {} } };
  let input: unknown;
  try {
    input = JSON.parse(given);
  } catch (cause) {
    throw new ConfigError('invalid_value', `--arguments is not JSON: ${given.slice(0, 80)}`, { value: given.slice(0, 80), cause });
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    throw new ConfigError('invalid_value', `--arguments must be a JSON object: ${given.slice(0, 80)}`, { value: given.slice(0, 80) });
  }
  return { call: { tool: call, input: input as Record<string, unknown> } };
}

function rowText({ verdict, section, title, detail }: Line): string {
  const told = detail === '' ? '' : `\n      ${displayText(detail)}`;
  return `${MARK[verdict]}  ${title}  (${PAGE}#${section})${told}`;
}

function countOf(lines: readonly Line[], verdict: Line['verdict']): number {
  return lines.filter((line) => line.verdict === verdict).length;
}

function isOk(lines: readonly Line[]): boolean {
  return lines.length > 0 && countOf(lines, 'fail') === 0;
}

function summaryText(lines: readonly Line[]): string {
  return `${countOf(lines, 'pass')} passed, ${countOf(lines, 'fail')} failed, ${countOf(lines, 'skip')} skipped`;
}
