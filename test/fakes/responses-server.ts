import {
  type FormatEvent,
  type FormatReply,
  type FormatScript,
  type FormatServer,
  type ServerFormat,
  startFormatServer,
  typed,
} from './reply-server.ts';

/** A real server that speaks OpenAI's responses. */
export function startResponsesServer(script: FormatScript, models: readonly object[] = []): Promise<FormatServer> {
  return startFormatServer(FORMAT, script, models);
}

const FORMAT: ServerFormat = {
  streams: ({ body }) => body.stream === true,
  events,
  whole,
  list: (path, models) => (path.endsWith('/models') ? { object: 'list', data: models } : undefined),
};

function whole(reply: FormatReply, number: number): object {
  const { usage } = reply;
  return {
    id: `resp_${number}`,
    object: 'response',
    status: 'completed',
    error: null,
    incomplete_details: null,
    output: items(reply, number),
    usage: usage === null ? null : (usage ?? { input_tokens: 20, output_tokens: 7, total_tokens: 27 }),
  };
}

function items({ reasoning = [], signature = 'ZW5j', text = [], calls = [] }: FormatReply, number: number): object[] {
  const summary = [{ type: 'summary_text', text: reasoning.join('') }];
  const content = [{ type: 'output_text', text: text.join(''), annotations: [] }];
  return [
    ...(reasoning.length > 0 ? [{ type: 'reasoning', id: `rs_${number}`, summary, encrypted_content: signature }] : []),
    ...(text.length > 0 ? [{ type: 'message', id: `msg_${number}`, role: 'assistant', status: 'completed', content }] : []),
    ...calls.map((call, index) => ({
      type: 'function_call',
      id: `fc_${number}_${index}`,
      call_id: call.id ?? `call_${number}_${index}`,
      name: call.name,
      arguments: call.arguments,
      status: 'completed',
    })),
  ];
}

function events(reply: FormatReply, number: number): FormatEvent[] {
  const { reasoning = [], text = [], calls = [] } = reply;
  const made: FormatEvent[] = [event({ type: 'response.created', response: { id: `resp_${number}`, status: 'in_progress', output: [] } })];
  let call = 0;
  for (const [output_index, item] of (items(reply, number) as { type: string }[]).entries()) {
    const empty = { summary: [], content: [], arguments: '' };
    const open = Object.fromEntries(Object.entries({ ...item, ...empty }).filter(([key]) => key in item && key !== 'encrypted_content'));
    made.push(event({ type: 'response.output_item.added', output_index, item: open }));
    const delta = (type: string, parts: readonly string[]): void => {
      for (const part of parts) made.push(event({ type, output_index, delta: part }));
    };
    if (item.type === 'reasoning') delta('response.reasoning_summary_text.delta', reasoning);
    else if (item.type === 'message') delta('response.output_text.delta', text);
    else {
      const written = calls[call]?.arguments ?? '';
      call += 1;
      delta('response.function_call_arguments.delta', [written.slice(0, 5), written.slice(5)]);
    }
    made.push(event({ type: 'response.output_item.done', output_index, item }));
  }
  return [...made, event({ type: 'response.completed', response: whole(reply, number) })];
}

function event(data: { readonly type: string; readonly [key: string]: unknown }): FormatEvent {
  return typed(data);
}
