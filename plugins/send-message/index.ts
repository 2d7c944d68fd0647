import { definePlugin, defineTool, type Plugin } from '../../ports/plugin.ts';

const MAX_TEXT = 16_000;
const MAX_BUTTONS = 8;
const MAX_LABEL = 64;
const MAX_PATH = 4_096;
const MAX_RESULT_CHARS = 2_000;
const TIMEOUT_MS = 5 * 60_000;
/** What a button of a message sends back begins with this; everything else belongs to odek. */
const DATA = /^cb:[\x21-\x7e]{1,61}$/;

export interface OutgoingMessage {
  /** Markdown; of a file its caption. */
  readonly text?: string;
  /** Absolute or below the working directory. */
  readonly file?: string;
  readonly buttons?: readonly { readonly text: string; readonly data: string }[];
}

/** Sends to the person of a run while it goes on. Rejects with an error whose text the model can act on. */
export type SendMessage = (message: OutgoingMessage, signal: AbortSignal) => Promise<string>;

/** `send_message`: something for the person before the answer is there. The surface says how. */
export function sendMessagePlugin(send: SendMessage): Plugin {
  return definePlugin({
    name: 'send-message',
    inject: ['tools'],
    apply({ tools }) {
      tools.register(
        defineTool<OutgoingMessage>({
          name: 'send_message',
          description: 'Send the person a message, a file, or buttons before your answer. Data of a button begins with "cb:".',
          parameters: {
            type: 'object',
            properties: {
              text: { type: 'string', minLength: 1, maxLength: MAX_TEXT },
              file: { type: 'string', minLength: 1, maxLength: MAX_PATH },
              buttons: {
                type: 'array',
                maxItems: MAX_BUTTONS,
                items: {
                  type: 'object',
                  properties: { text: { type: 'string', minLength: 1, maxLength: MAX_LABEL }, data: { type: 'string' } },
                  required: ['text', 'data'],
                },
              },
            },
          },
          maxResultChars: MAX_RESULT_CHARS,
          timeoutMs: TIMEOUT_MS,
          ordered: true,
          effects: ({ file }) => (file === undefined ? {} : { reads: [file] }),
          async execute(message, { signal }) {
            if (message.text === undefined && message.file === undefined)
              throw new Error('there is nothing to send: give a text or a file');
            const wrong = message.buttons?.find(({ data }) => !DATA.test(data));
            if (wrong !== undefined) {
              throw new Error(
                `the data of a button must be "cb:" and 1 to 61 printable characters without spaces, not ${JSON.stringify(wrong.data)}`,
              );
            }
            return send(message, signal);
          },
        }),
      );
    },
  });
}
