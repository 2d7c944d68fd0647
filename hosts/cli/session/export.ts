import { foldJournal } from '../../../core/transcript/fold.ts';
import { EXIT } from '../exit-codes.ts';
import { type SessionCommand, UsageError } from './deps.ts';

/** `session export <id>`: the header, the whole journal, and the messages the model would see, as JSON. */
export const exportSession: SessionCommand = async (args, { store, out, flags }) => {
  const [id] = args;
  if (id === undefined || args.length > 1) throw new UsageError('session export takes one id');
  const format = flags?.format ?? 'json';
  if (format !== 'json') throw new UsageError(`session export writes json only; got ${JSON.stringify(format)}`);
  const { header, records } = await store.read(id);
  const messages = foldJournal(records).entries.map(({ message }) => message);
  out(JSON.stringify({ session: header, journal: records, messages }, null, 2));
  return EXIT.ok;
};
