import {
  type FormatEvent,
  type FormatReply,
  type FormatScript,
  type FormatServer,
  type ServerFormat,
  startFormatServer,
  typed,
} from './reply-server.ts';

/** A real server that speaks Anthropic's messages. */
export function startAnthropicServer(script: FormatScript, models: readonly object[] = []): Promise<FormatServer> {
  return startFormatServer(FORMAT, script, models);
}

const FORMAT: ServerFormat = {
  streams: ({ body }) => body.stream === true,
  events,
  whole: (reply, number) => ({
    id: `msg_${number}`,
    type: 'message',
    role: 'assistant',
    content: blocks(reply, number),
    stop_reason: stopReason(reply),
    usage: usage(reply),
  }),
  list: (path, models) => (path.startsWith('/v1/models') ? { data: models, has_more: false } : undefined),
};

function usage({ usage: given }: FormatReply): object | undefined {
  return given === null ? undefined : (given ?? { input_tokens: 20, output_tokens: 7 });
}

function stopReason({ calls = [] }: FormatReply): string {
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

function blocks({ reasoning = [], signature = 'c2ln', text = [], calls = [] }: FormatReply, number: number): object[] {
  return [
    ...(reasoning.length > 0 ? [{ type: 'thinking', thinking: reasoning.join(''), signature }] : []),
    ...(text.length > 0 ? [{ type: 'text', text: text.join('') }] : []),
    ...calls.map((call, index) => ({
      type: 'tool_use',
      id: call.id ?? `toolu_${number}_${index}`,
      name: call.name,
      input: JSON.parse(call.arguments) as unknown,
    })),
  ];
}

function events(reply: FormatReply, number: number): FormatEvent[] {
  const { reasoning = [], signature = 'c2ln', text = [], calls = [] } = reply;
  let index = -1;
  const block = (start: object, deltas: readonly object[]): FormatEvent[] => {
    index += 1;
    return [
      typed({ type: 'content_block_start', index, content_block: start }),
      ...deltas.map((delta) => typed({ type: 'content_block_delta', index, delta })),
      typed({ type: 'content_block_stop', index }),
    ];
  };
  const counted = usage(reply);
  const message = { id: `msg_${number}`, type: 'message', role: 'assistant', content: [], stop_reason: null, usage: counted };
  return [
    typed({ type: 'message_start', message }),
    ...(reasoning.length === 0
      ? []
      : block({ type: 'thinking', thinking: '', signature: '' }, [
          ...reasoning.map((thinking) => ({ type: 'thinking_delta', thinking })),
          { type: 'signature_delta', signature },
        ])),
    typed({ type: 'ping' }),
    ...(text.length === 0
      ? []
      : block(
          { type: 'text', text: '' },
          text.map((part) => ({ type: 'text_delta', text: part })),
        )),
    ...calls.flatMap((call, at) =>
      block({ type: 'tool_use', id: call.id ?? `toolu_${number}_${at}`, name: call.name, input: {} }, [
        { type: 'input_json_delta', partial_json: call.arguments.slice(0, 5) },
        { type: 'input_json_delta', partial_json: call.arguments.slice(5) },
      ]),
    ),
    typed({ type: 'message_delta', delta: { stop_reason: stopReason(reply), stop_sequence: null }, usage: counted }),
    typed({ type: 'message_stop' }),
  ];
}
