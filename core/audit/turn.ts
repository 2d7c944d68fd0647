import type { AuditTurn } from '../../ports/audit.ts';
import { isSource, MAX_RESOURCES, resourcesIn } from './resources.ts';

/** What one turn took in and did, as it goes on. Work is in proportion to what is added. */
export interface TurnRecord {
  /** Untrusted content came in front of the model. */
  ingest(body: string, source: string): void;
  /** A tool is called. Compared with what came in before it. */
  call(tool: string, argumentsText: string): void;
  /** The turn as it stands, with `answer` looked at like an argument. */
  read(answer: string): AuditTurn;
}

const MAX_LISTED = 256;
const MAX_MESSAGE_CHARS = 4096;

/** `prompt`: what the user typed, before references in it were resolved. */
export function createTurnRecord(turn: number, prompt: string): TurnRecord {
  const asked = prompt.toLowerCase();
  const calls: string[] = [];
  /** By their lower-case form, as they were written first. */
  const novel = new Map<string, string>();
  const tainted = new Map<string, string>();
  const untrusted = new Set<string>();
  let ingested = false;

  const note = (list: Map<string, string>, key: string, place: string): void => {
    if (list.size < MAX_LISTED && !list.has(key)) list.set(key, place);
  };
  const compare = (text: string, into: { readonly novel: Map<string, string>; readonly tainted: Map<string, string> }): void => {
    for (const place of resourcesIn(text)) {
      const key = place.toLowerCase();
      if (!asked.includes(key)) note(into.novel, key, place);
      if (untrusted.has(key)) note(into.tainted, key, place);
    }
  };

  return {
    ingest(body, source) {
      ingested = true;
      for (const place of resourcesIn(body)) {
        if (untrusted.size >= MAX_RESOURCES) return;
        if (!isSource(place, source)) untrusted.add(place.toLowerCase());
      }
    },
    call(tool, argumentsText) {
      if (calls.length < MAX_LISTED) calls.push(tool.slice(0, 128));
      compare(argumentsText, { novel, tainted });
    },
    read(answer) {
      const lists = { novel: new Map(novel), tainted: new Map(tainted) };
      compare(answer, lists);
      const diverges = lists.novel.size > 0 || lists.tainted.size > 0;
      return {
        turn,
        user_message: prompt.slice(0, MAX_MESSAGE_CHARS),
        tool_calls: [...calls],
        novel_resources: [...lists.novel.values()],
        untrusted_resources: [...lists.tainted.values()],
        ingested_untrusted: ingested,
        suspicious_divergence: ingested && diverges,
      };
    },
  };
}
