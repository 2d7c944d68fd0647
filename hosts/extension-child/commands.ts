import { type Context, Service } from '@deepseek-ai/cordis';
import type { CommandAnswer, CommandRunParams } from '../../ports/extension-host.ts';
import { fieldsOf, functionOf, isFields, textOf } from './fields.ts';
import type { Registrations } from './registrations.ts';

export type CommandHandler = (invocation: object) => unknown;

const MAX_DESCRIPTION = 1_024;
const MAX_HINT = 256;
const MAX_PROMPT = 128 * 1024;
const KNOWN = ['name', 'description', 'argumentHint', 'input', 'handler', 'definitionId'];

/** The service `commands`. */
export function commandsService(registrations: Registrations): new (ctx: Context) => Service {
  class Commands extends Service {
    constructor(ctx: Context) {
      super(ctx, 'commands');
    }

    register(definition: unknown): () => void {
      const fields = fieldsOf(definition, 'a command', KNOWN);
      const name = textOf(fields.name, 'the name of a command', { max: 64, min: 1 });
      const what = `command "${name}"`;
      const description = textOf(fields.description, `the description of ${what}`, { max: MAX_DESCRIPTION, min: 1 });
      const input = fields.input === undefined ? {} : fieldsOf(fields.input, `input of ${what}`, ['hint', 'attachments']);
      if (input.attachments === true) throw new TypeError(`${what} cannot take attachments here`);
      const hint = fields.argumentHint ?? input.hint;
      const handler = functionOf<CommandHandler>(fields.handler, `handler of ${what}`);
      const spec = {
        kind: 'command',
        name,
        description,
        ...(hint !== undefined && { argument_hint: textOf(hint, `the hint of ${what}`, { max: MAX_HINT }) }),
      } as const;
      return registrations.offer(this.ctx, spec, ((invocation) => handler.call(definition, invocation)) satisfies CommandHandler);
    }
  }
  return Commands;
}

/** Runs a handler and makes one of the three answers of what it gives. */
export async function runCommand(
  handler: CommandHandler,
  params: CommandRunParams,
  shared: { readonly signal: AbortSignal; readonly dataDir: string },
): Promise<CommandAnswer> {
  let followup: string | undefined;
  let isOpen = true;
  const agent =
    params.session_id === undefined
      ? undefined
      : Object.freeze({
          id: params.agent_id ?? params.session_id,
          followup(message: unknown) {
            if (!isOpen) throw new Error('the command is over');
            if (followup !== undefined) throw new Error('a command can follow up with one message');
            followup = messageText(message);
          },
        });
  const invocation = Object.freeze({
    args: params.raw_input.trim(),
    rawInput: params.raw_input,
    commandId: params.command_id,
    attachments: Object.freeze([]),
    ...shared,
    ...(params.workspace !== undefined && { workspace: params.workspace }),
    ...(params.session_id !== undefined && { sessionId: params.session_id }),
    ...(params.agent_id !== undefined && { agentId: params.agent_id }),
    ...(params.origin_turn_id !== undefined && { originTurnId: params.origin_turn_id }),
    ...(agent !== undefined && { agent }),
  });
  try {
    return commandAnswer(await handler(invocation), followup);
  } finally {
    isOpen = false;
  }
}

function commandAnswer(result: unknown, followup: string | undefined): CommandAnswer {
  const fields =
    typeof result === 'string' || result === undefined
      ? { kind: 'success', text: result }
      : fieldsOf(result, 'the answer of a command', ['kind', 'text', 'prompt']);
  const text = fields.text === undefined ? '' : textOf(fields.text, 'the text of a command', { max: Number.POSITIVE_INFINITY });
  if (fields.kind === 'error') return { kind: 'error', text };
  if (fields.kind === 'submit') {
    if (followup !== undefined) throw new TypeError('a command can submit or follow up, not both');
    return { kind: 'submit', text, prompt: textOf(fields.prompt, 'the prompt of a command', { max: MAX_PROMPT, min: 1 }) };
  }
  if (fields.kind !== 'success' || fields.prompt !== undefined)
    throw new TypeError('a command answers with text or { kind: success | error | submit }');
  return followup === undefined ? { kind: 'success', text } : { kind: 'submit', text, prompt: followup };
}

/** The text of a user message in JSON: an id, a source of a kind, one block of plain text. */
function messageText(message: unknown): string {
  const fields = fieldsOf(message, 'the message', ['id', 'role', 'source', 'content']);
  if (fields.id !== undefined) textOf(fields.id, 'the id of the message', { max: 256, min: 1 });
  if (fields.role !== undefined && fields.role !== 'user') throw new TypeError('the message must be a user message');
  if (fields.source !== undefined)
    textOf(fieldsOf(fields.source, 'the source of the message', ['kind']).kind, 'the kind of the source', { max: 64, min: 1 });
  const blocks = Array.isArray(fields.content) ? fields.content : [];
  if (blocks.length !== 1 || !isFields(blocks[0])) throw new TypeError('the message must have one block of text');
  const block = fieldsOf(blocks[0], 'the block of the message', ['type', 'text']);
  if (block.type !== 'text') throw new TypeError('the message must have one block of text');
  return textOf(block.text, 'the text of the message', { max: MAX_PROMPT, min: 1 });
}
