import type { HookAnswer } from '../../ports/extension-host.ts';
import type { PreExecuteVerdict } from '../agent/plugin-seams.ts';
import { utf8Length } from '../results/utf8.ts';
import { LIMITS } from './limits.ts';

/** What one listener said, or how it failed. */
export type Heard = { readonly by: string } & ({ readonly answer: HookAnswer } | { readonly failed: string });

function failedClosed(by: string, why: string): PreExecuteVerdict {
  return { kind: 'deny', by, reason: `its listener ${why}` };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** What is wrong with an answer; undefined when nothing is. An answer is foreign, whatever its type says. */
function answerFault(answer: HookAnswer): string | undefined {
  switch (answer.kind) {
    case 'abstain':
      return undefined;
    case 'deny':
      return isText(answer.reason) ? undefined : 'denied without a reason';
    case 'ask':
      return answer.reason === undefined || isText(answer.reason) ? undefined : 'asked with a reason that is no text';
    case 'annotate':
      return isText(answer.text) ? undefined : 'annotated with what is no text';
    case 'revise': {
      if (typeof answer.input !== 'object' || answer.input === null || Array.isArray(answer.input))
        return 'revised the input to what is no JSON object';
      const bytes = utf8Length(JSON.stringify(answer.input));
      return bytes > LIMITS.revisionBytes ? `revised the input to ${bytes} bytes, the limit is ${LIMITS.revisionBytes}` : undefined;
    }
    default:
      return 'gave an answer that has no meaning';
  }
}

/**
 * One verdict of many, in the order in which the listeners were registered: a failure denies, a denial
 * wins over everything, the last revision wins over earlier ones, the first reason to ask is told.
 */
export function combineAnswers(heard: readonly Heard[]): PreExecuteVerdict {
  let revision: Extract<PreExecuteVerdict, { kind: 'go' }>['revision'];
  let ask: Extract<PreExecuteVerdict, { kind: 'go' }>['ask'];
  const notes: { by: string; text: string }[] = [];
  let failure: PreExecuteVerdict | undefined;
  for (const each of heard) {
    const { by } = each;
    if ('failed' in each) {
      failure ??= failedClosed(by, `failed: ${each.failed}`);
      continue;
    }
    const { answer } = each;
    const fault = answerFault(answer);
    if (fault !== undefined) failure ??= failedClosed(by, fault);
    else if (answer.kind === 'deny') return { kind: 'deny', by, reason: answer.reason };
    else if (answer.kind === 'revise') revision = { by, input: answer.input };
    else if (answer.kind === 'ask') ask ??= { by, reason: answer.reason ?? 'a listener wants a person to look at it' };
    else if (answer.kind === 'annotate') notes.push({ by, text: answer.text });
  }
  if (failure !== undefined) return failure;
  return { kind: 'go', notes, ...(revision && { revision }), ...(ask && { ask }) };
}
