import { foldJournal, type TranscriptEntry } from '../../../core/transcript/fold.ts';
import type { SessionHeader, StoredRecord } from '../../../ports/session.ts';
import { EXIT } from '../exit-codes.ts';
import { counted } from '../render/figures.ts';
import { sanitise, sanitiseLine } from '../render/sanitise.ts';
import { type SessionCommand, UsageError } from './deps.ts';

const RESULT_CHARS = 200;

/** Code points, so that no character is cut in half. */
function shorten(text: string, limit: number): string {
  const head = [...text.slice(0, 2 * limit + 1)];
  return head.length > limit ? `${head.slice(0, limit).join('')}…` : text;
}

function heading(text: string): string {
  return `── [${sanitiseLine(text)}] ──`;
}

/** Place of each user message among all of the journal, which a trim does not change. */
function turnNumbers(records: readonly StoredRecord[]): ReadonlyMap<number, number> {
  const users = records.filter(({ record }) => record.kind === 'message' && record.message.role === 'user');
  return new Map(users.map(({ seq }, index) => [seq, index + 1]));
}

function entryLines({ seq, message }: TranscriptEntry, turns: ReadonlyMap<number, number>): string[] {
  if (message.role === 'system') return [heading('SYSTEM'), sanitise(message.content)];
  if (message.role === 'user') return [heading(`USER Turn ${turns.get(seq) ?? '?'}`), sanitise(message.content)];
  if (message.role === 'tool') return [heading(`TOOL RESULT: ${message.name}`), sanitise(shorten(message.content, RESULT_CHARS))];
  const text = message.content === '' ? [] : [heading('ASSISTANT'), sanitise(message.content)];
  const calls = (message.toolCalls ?? []).flatMap((call) => [
    heading(`TOOL CALL: ${call.name}`),
    sanitise(shorten(call.arguments, RESULT_CHARS)),
  ]);
  return [...text, ...calls];
}

function title(header: SessionHeader): string[] {
  const facts = [header.id, header.model, counted(header.turns, 'turn'), new Date(header.updatedAt).toISOString()];
  return [
    facts
      .filter((fact) => fact !== '')
      .map(sanitiseLine)
      .join(' · '),
    sanitiseLine(header.title),
  ];
}

/** `session show [id]`: what the model sees of a session, of the latest without an id. */
export const show: SessionCommand = async (args, { store, out, err, flags }) => {
  if (args.length > 1) throw new UsageError('session show takes at most one id');
  const id = args[0] ?? (await store.find({ limit: 1 }))[0]?.id;
  if (id === undefined) {
    err('There is no session yet. "odek run --session <task>" keeps one.');
    return EXIT.failed;
  }
  const { header, records } = await store.read(id);
  const { entries } = foldJournal(records);
  if (flags?.json === true) {
    out(JSON.stringify({ session: header, messages: entries.map(({ message }) => message) }));
    return EXIT.ok;
  }
  const turns = turnNumbers(records);
  for (const line of title(header)) out(line);
  for (const entry of entries) for (const line of entryLines(entry, turns)) out(line);
  return EXIT.ok;
};
