import type { Context } from '@deepseek-ai/cordis';
import type { HookAnswer, HookEvaluateParams } from '../../ports/extension-host.ts';
import { fieldsOf, functionOf, isFields, jsonOf, textOf } from './fields.ts';
import type { Link } from './link.ts';
import { currentScope, entryOf, type Owner } from './owners.ts';
import type { Registrations } from './registrations.ts';

export type HookListener = (exec: object, next: () => Promise<HookAnswer>) => unknown;

const PRE_EXECUTE = 'tools/pre-execute';
/** Events of other hosts that never fire here. */
const FOREIGN = /^(agents?|tools|sessions?|llm|turns?|commands?|runtime|approvals?|messages?|models?)\/|^(ready|dispose|exit|fork)$/;
const MAX_TEXT = 1024 * 1024;
const ABSTAIN: HookAnswer = Object.freeze({ kind: 'abstain' });

/** Makes `ctx.on('tools/pre-execute', …)` a registration, and refuses listeners that would never be told. */
export function installHooks(root: Context, registrations: Registrations): void {
  const on = root.on as unknown as (name: string, listener: (this: Context, ...args: unknown[]) => unknown) => void;
  on.call(root, 'internal/listener', function (this: Context, name, listener, options) {
    if (entryOf(this.fiber) === undefined) {
      if (currentScope() === undefined) return undefined;
      throw new Error('this context belongs to no plugin; use the one that apply was given');
    }
    const event = String(name);
    if (event.startsWith('internal/')) throw new Error(`a plugin cannot listen to "${event}"`);
    if (event !== PRE_EXECUTE) {
      if (FOREIGN.test(event)) throw new Error(`the event "${event}" never comes here; only "${PRE_EXECUTE}" does`);
      return undefined;
    }
    if (isFields(options) && (options.prepend === true || options.global === true))
      throw new Error(`a listener of "${PRE_EXECUTE}" cannot choose its place`);
    return registrations.offer(this, { kind: 'hook', name: PRE_EXECUTE }, functionOf<HookListener>(listener, 'a listener'));
  });
}

/** Asks one listener. Throws for an answer that is none: the call then fails closed. */
export async function evaluateHook(
  listener: HookListener,
  params: HookEvaluateParams,
  signal: AbortSignal,
  owner: Owner,
  link: Link,
): Promise<HookAnswer> {
  const { name, call_id, input, mode, workspace, model } = params.payload;
  const exec = Object.freeze({ name, callId: call_id, arguments: deeplyFrozen(input), signal, workspace, mode, model });
  const answer = await listener(exec, async () => ABSTAIN);
  return hookAnswer(answer, () => {
    if (owner.warned.has('allow')) return;
    owner.warned.add('allow');
    link.log('warning', 'a listener answered "allow", which counts as no answer: a plugin cannot approve', owner);
  });
}

function hookAnswer(answer: unknown, warnOfAllow: () => void): HookAnswer {
  if (answer === undefined) return ABSTAIN;
  const what = 'the answer of a listener';
  const fields = fieldsOf(answer, what, ['kind', 'reason', 'input', 'text']);
  const optional = fields.reason === undefined ? {} : { reason: textOf(fields.reason, `the reason in ${what}`, { max: MAX_TEXT }) };
  switch (fields.kind) {
    case 'abstain':
      return ABSTAIN;
    case 'allow':
      warnOfAllow();
      return ABSTAIN;
    case 'deny':
      return { kind: 'deny', reason: textOf(fields.reason, `the reason in ${what}`, { max: MAX_TEXT }) };
    case 'ask':
      return { kind: 'ask', ...optional };
    case 'revise':
      if (!isFields(fields.input)) throw new TypeError(`the input in ${what} must be an object`);
      return { kind: 'revise', input: jsonOf(fields.input, `the input in ${what}`, MAX_TEXT) as Readonly<Record<string, unknown>> };
    case 'annotate':
      return { kind: 'annotate', text: textOf(fields.text, `the text in ${what}`, { max: MAX_TEXT }) };
    default:
      throw new TypeError(`${what} must be of kind deny, ask, revise, annotate or abstain`);
  }
}

/** JSON, so that it has no cycles. */
function deeplyFrozen(value: unknown): unknown {
  if (typeof value === 'object' && value !== null) for (const each of Object.values(Object.freeze(value))) deeplyFrozen(each);
  return value;
}
