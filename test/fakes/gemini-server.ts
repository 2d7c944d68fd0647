import {
  type FormatEvent,
  type FormatReply,
  type FormatScript,
  type FormatServer,
  type ServerFormat,
  startFormatServer,
} from './reply-server.ts';

/** A real server that speaks Google's generated content. */
export function startGeminiServer(script: FormatScript, models: readonly object[] = []): Promise<FormatServer> {
  return startFormatServer(FORMAT, script, models);
}

const FORMAT: ServerFormat = {
  streams: ({ path }) => path.includes(':streamGenerateContent'),
  events(reply, number): FormatEvent[] {
    const parts = partsOf(reply, number);
    const chunks = parts.map((part) => ({ data: chunk([part], undefined, undefined) }));
    return [...chunks, { data: chunk([{ text: '' }], 'STOP', usage(reply)) }];
  },
  whole: (reply, number) => chunk(partsOf(reply, number), 'STOP', usage(reply)),
  list: (path, models) => (/\/v1(beta)?\/models\?/.test(path) ? { models } : undefined),
};

function usage({ usage: given }: FormatReply): object | undefined {
  return given === null ? undefined : (given ?? { promptTokenCount: 20, candidatesTokenCount: 7, totalTokenCount: 27 });
}

function partsOf({ reasoning = [], text = [], calls = [] }: FormatReply, number: number): object[] {
  return [
    ...reasoning.map((part) => ({ text: part, thought: true })),
    ...text.map((part) => ({ text: part })),
    ...calls.map((call, index) => ({
      functionCall: { id: call.id ?? `fc_${number}_${index}`, name: call.name, args: JSON.parse(call.arguments) as unknown },
      ...(call.signature === undefined ? {} : { thoughtSignature: call.signature }),
    })),
  ];
}

function chunk(parts: readonly object[], finishReason: string | undefined, usageMetadata: object | undefined): object {
  return { candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }], usageMetadata, modelVersion: 'fake' };
}
