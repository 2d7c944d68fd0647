import type { SessionHeader } from '../../../ports/session.ts';
import { EXIT } from '../exit-codes.ts';
import { truncateCells } from '../render/cells.ts';
import { columns } from '../render/columns.ts';
import { sanitiseLine } from '../render/sanitise.ts';
import type { SessionCommand } from './deps.ts';

const NEWEST = 20;
const MODEL_CELLS = 28;
const TASK_CELLS = 60;

function row({ id, turns, model, title }: SessionHeader): string[] {
  return [id, String(turns), truncateCells(sanitiseLine(model), MODEL_CELLS), truncateCells(sanitiseLine(title), TASK_CELLS)];
}

/** `session list [words…]`: the newest sessions, or the newest whose text has these words. */
export const list: SessionCommand = async (args, { store, out, flags }) => {
  const text = args.join(' ');
  const found = await store.find({ limit: NEWEST, ...(text === '' ? {} : { text }) });
  if (flags?.json === true) {
    out(JSON.stringify({ sessions: found }));
  } else if (found.length === 0) {
    out(text === '' ? 'No sessions yet. "odek run --session <task>" keeps one.' : `No session has the words: ${sanitiseLine(text)}`);
  } else {
    for (const line of columns([['ID', 'Turns', 'Model', 'Task'], ...found.map(row)])) out(line);
  }
  return EXIT.ok;
};
