import type { RunEvent } from '../../../ports/event.ts';
import { type Lexer, sourceOnly } from './markdown-stream.ts';

/** Events in their order, held while the markdown parser loads. */
export interface EventQueue {
  /** Shows `event` now, or once the parser is there when it or an event before it needs the parser. */
  take(event: RunEvent): void;
  /** Resolves when the parser is there and everything held has been shown. */
  ready(): Promise<Lexer>;
}

function needsLexer(event: RunEvent): boolean {
  return event.type === 'text_delta' || event.type === 'message';
}

/**
 * The parser is loaded with the first text and not before. `show` gets it as soon as it is there, and
 * must not throw. Where it cannot be loaded, text is shown as source.
 */
export function createEventQueue(load: () => Promise<Lexer>, show: (event: RunEvent, lexer: Lexer | undefined) => void): EventQueue {
  let lexer: Lexer | undefined;
  let loading: Promise<Lexer> | undefined;
  let held: RunEvent[] = [];

  const ready = (): Promise<Lexer> => {
    const loaded = (): Promise<Lexer> => load().catch(() => sourceOnly);
    loading ??= loaded().then((parser) => {
      lexer = parser;
      const events = held;
      held = [];
      for (const event of events) show(event, parser);
      return parser;
    });
    return loading;
  };

  return {
    take(event) {
      if (lexer !== undefined || (held.length === 0 && !needsLexer(event))) {
        show(event, lexer);
        return;
      }
      held.push(event);
      void ready();
    },
    ready,
  };
}
