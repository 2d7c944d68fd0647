import type { AuditStore } from '../../ports/audit.ts';
import type { Message } from '../../ports/message.ts';
import { SLOT_NAMES, type SlotName } from '../../ports/session.ts';
import type { PreparedCall } from '../agent/prepare.ts';
import type { AgentDeps } from '../agent/settings.ts';
import type { Stage } from '../agent/stage.ts';
import type { RunState } from '../agent/state.ts';
import { allWrapped } from '../untrusted/wrapper.ts';
import { argumentText } from './resources.ts';
import { createTurnRecord } from './turn.ts';

const HASH_DIGITS = 16;
const MAX_SOURCE_CHARS = 1024;

export interface AuditedTurn {
  /** 1-based number of the user message. */
  readonly turn: number;
  /** What the user typed; absent where a run goes on with an interrupted one: then the last user message of the transcript. */
  readonly prompt: string | undefined;
}

function lastUserIndex(messages: readonly Message[]): number {
  return messages.findLastIndex(({ role }) => role === 'user');
}

/**
 * Keeps the audit of a run: each piece of untrusted content as it comes in, stored with the result that
 * brought it, and what the turn did in the end.
 */
export function createAuditStage(deps: AgentDeps, audit: AuditStore, { turn, prompt }: AuditedTurn): Stage {
  const { redactor, hash, clock } = deps;
  let record = createTurnRecord(turn, redactor.text(prompt ?? ''));
  let seen = 0;
  let answer = '';
  let run: RunState | undefined;
  const slots = new Map<SlotName, string>();

  const ingest = (state: RunState, body: string, source: string): void => {
    record.ingest(body, source);
    const content_hash = hash.sha256(body).slice(0, HASH_DIGITS);
    audit.note(state.sessionId, {
      kind: 'ingest',
      ingest: { turn, source: source.slice(0, MAX_SOURCE_CHARS), content_hash, at: clock.now() },
    });
  };

  const ingestWrapped = (state: RunState, text: string): void => {
    for (const { source, body } of allWrapped(text)) ingest(state, body, source);
  };

  const callsOf = (calls: readonly Pick<PreparedCall['call'], 'name' | 'arguments'>[]): void => {
    for (const call of calls) record.call(call.name, argumentText(redactor.json(call.arguments)));
  };

  /** What is in view already was taken in by an earlier turn, or by the part of this one before it was interrupted. */
  const takeUp = (messages: readonly Message[]): void => {
    const start = lastUserIndex(messages);
    const user = messages[start];
    if (prompt === undefined) record = createTurnRecord(turn, user === undefined ? '' : withoutWrapped(user.content));
    for (const [index, message] of messages.entries()) {
      if (message.role !== 'assistant') for (const { source, body } of allWrapped(message.content)) record.ingest(body, source);
      // Calls of the interrupted part belong to this turn, those of earlier turns do not.
      if (prompt === undefined && index > start && message.role === 'assistant') callsOf(message.toolCalls ?? []);
    }
  };

  const newestSeq = ({ transcript }: RunState): number => transcript.entries.findLast(({ seq }) => seq !== 0)?.seq ?? 0;

  const note = (state: RunState): void => {
    audit.note(state.sessionId, { kind: 'turn', turn: record.read(answer) });
  };

  return {
    name: 'audit',

    async begin(state) {
      run = state;
      const { messages } = state.transcript;
      const start = prompt === undefined ? -1 : lastUserIndex(messages);
      const task = messages[start];
      // The references of a new task are untrusted content that this turn brought in.
      if (task !== undefined) ingestWrapped(state, task.content);
      takeUp(messages.filter((message) => message !== task || prompt === undefined));
      seen = newestSeq(state);
      for (const name of SLOT_NAMES) slots.set(name, state.transcript.slot(name) ?? '');
    },

    async beforeThink(state) {
      for (const name of SLOT_NAMES) {
        const content = state.transcript.slot(name) ?? '';
        if (content === slots.get(name)) continue;
        slots.set(name, content);
        ingestWrapped(state, content);
      }
      const { entries } = state.transcript;
      for (let at = entries.length - 1; at >= 0; at -= 1) {
        const entry = entries[at];
        if (entry === undefined || (entry.seq !== 0 && entry.seq <= seen)) break;
        if (entry.seq !== 0 && entry.message.role === 'system') ingestWrapped(state, entry.message.content);
      }
      seen = newestSeq(state);
    },

    beforeBatch(_state, calls) {
      callsOf(calls.map(({ call }) => call));
    },

    afterCall(state, { content, source }) {
      if (source !== undefined && content !== '') ingest(state, content, source);
      return [];
    },

    async onAnswer(state, _thought, text) {
      answer = text;
      note(state);
      return undefined;
    },

    end() {
      if (run !== undefined) note(run);
    },
  };
}

/** What a person typed of a message in which references were resolved. */
function withoutWrapped(text: string): string {
  return allWrapped(text).reduce((rest, { whole }) => rest.replace(whole, ''), text);
}
