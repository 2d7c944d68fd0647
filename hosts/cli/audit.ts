import type { AuditStore, AuditSummary, SessionAudit } from '../../ports/audit.ts';
import { ConfigError } from '../../ports/errors.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { loadToldWithoutModel } from './host.ts';
import { truncateCells } from './render/cells.ts';
import { columns } from './render/columns.ts';
import { sanitiseLine } from './render/sanitise.ts';
import { withStore } from './store.ts';

const LISTED = 1000;
const SOURCE_CELLS = 60;
const HEADINGS = ['Session', 'Ingests', 'Turns', 'Suspicious', 'First-Ingest-Source'];

function row({ session_id, ingests, turns, suspicious, first_source }: AuditSummary): string[] {
  const source = truncateCells(sanitiseLine(first_source ?? '-'), SOURCE_CELLS);
  return [session_id, String(ingests), String(turns), String(suspicious), source];
}

/** Times as text, as a person reads them. */
function shown({ session_id, ingests, turns }: SessionAudit): object {
  return { session_id, ingests: ingests.map((ingest) => ({ ...ingest, at: new Date(ingest.at).toISOString() })), turns };
}

/** One or more lines for standard output. */
async function report(audit: AuditStore, id: string | undefined): Promise<readonly string[]> {
  if (id !== undefined) return [JSON.stringify(shown(await audit.read(id)), null, 2)];
  const found = await audit.list(LISTED);
  return found.length === 0 ? ['No audits yet: no kept session took in untrusted content.'] : columns([HEADINGS, ...found.map(row)]);
}

/** `odek audit --list` and `odek audit <id>`: what untrusted content went into a session, and what came of it. */
export async function run(context: CommandContext): Promise<number> {
  const { args, io } = context;
  const [id, ...more] = args.positionals;
  const isList = args.flags.list === true;
  if (more.length > 0 || isList === (id !== undefined)) {
    throw new ConfigError('unexpected_argument', 'odek audit takes one session id, or --list', { value: args.positionals.join(' ') });
  }
  const config = await loadToldWithoutModel(context);
  for (const line of await withStore(config, 'audit', (store) => report(store.audit, id))) io.stdout.write(`${line}\n`);
  return EXIT.ok;
}
