import { type ArtifactEntry, type ArtifactLedger, MAX_SESSION_ARTIFACTS } from '../../ports/artifact.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Database } from './database.ts';

/** Sessions without a journal of their own whose artifacts one process remembers. */
const MAX_UNKNOWN_SESSIONS = 64;

const SESSION = 'SELECT n FROM sessions WHERE id = ?';
const FIND = 'SELECT * FROM artifacts WHERE session = ? AND id = ?';
const PUT = `INSERT INTO artifacts (session, id, n, at, source, path, roots, media_type, size_bytes, sha256)
  VALUES (?, ?, (SELECT coalesce(max(n), 0) + 1 FROM artifacts WHERE session = ?), ?, ?, ?, ?, ?, ?, ?)
  ON CONFLICT DO NOTHING`;
const FORGET = 'DELETE FROM artifacts WHERE session = ? AND n <= (SELECT max(n) FROM artifacts WHERE session = ?) - ?';

interface Row {
  readonly id: string;
  readonly source: string;
  readonly path: string;
  readonly roots: string;
  readonly media_type: string;
  readonly size_bytes: number;
  readonly sha256: string;
}

/** Where the artifacts of one session are. */
interface Shelf {
  find(id: string): ArtifactEntry | undefined;
  put(entry: ArtifactEntry): void;
  /** Forgets what is over the limit. */
  trim(): void;
}

function toEntry(row: Row): ArtifactEntry {
  const { id, source, path, media_type, size_bytes, sha256 } = row;
  return { id, source, path, roots: JSON.parse(row.roots) as string[], mediaType: media_type, sizeBytes: size_bytes, sha256 };
}

function shelfOf(db: Database, session: number, clock: Clock): Shelf {
  return {
    find(id) {
      const row = db.get<Row>(FIND, session, id);
      return row && toEntry(row);
    },
    put({ id, source, path, roots, mediaType, sizeBytes, sha256 }) {
      db.run(PUT, session, id, session, clock.now(), source, path, JSON.stringify(roots), mediaType, sizeBytes, sha256);
    },
    trim: () => void db.run(FORGET, session, session, MAX_SESSION_ARTIFACTS),
  };
}

function shelfInMemory(entries: Map<string, ArtifactEntry>): Shelf {
  return {
    find: (id) => entries.get(id),
    put: (entry) => void (entries.has(entry.id) || entries.set(entry.id, entry)),
    trim() {
      for (const id of entries.keys()) {
        if (entries.size <= MAX_SESSION_ARTIFACTS) return;
        entries.delete(id);
      }
    },
  };
}

function isSame(a: ArtifactEntry, b: ArtifactEntry): boolean {
  return a.path === b.path && a.sha256 === b.sha256 && a.source === b.source;
}

/** Adds under the first id that is free, or already means this very file. */
function addTo(shelf: Shelf, entry: ArtifactEntry): string {
  for (let turn = 1; ; turn += 1) {
    const id = turn === 1 ? entry.id : `${entry.id}.${turn}`;
    const known = shelf.find(id);
    if (known === undefined) shelf.put({ ...entry, id });
    if (known === undefined || isSame(known, entry)) return id;
  }
}

/** The {@link ArtifactLedger} over one database connection; what belongs to no stored session stays in memory. */
export function openArtifacts(db: Database, clock: Clock): ArtifactLedger {
  const unknown = new Map<string, Map<string, ArtifactEntry>>();

  const remembered = (session: string): Map<string, ArtifactEntry> => {
    const entries = unknown.get(session) ?? new Map<string, ArtifactEntry>();
    unknown.delete(session);
    unknown.set(session, entries);
    const [oldest] = unknown.keys();
    if (unknown.size > MAX_UNKNOWN_SESSIONS && oldest !== undefined) unknown.delete(oldest);
    return entries;
  };

  const shelf = (session: string): Shelf => {
    const stored = db.get<{ n: number }>(SESSION, session);
    return stored ? shelfOf(db, stored.n, clock) : shelfInMemory(remembered(session));
  };

  return {
    add: async (session, entries) =>
      db.transaction(() => {
        const place = shelf(session);
        const ids = entries.map((entry) => addTo(place, entry));
        place.trim();
        return ids;
      }),
    find: async (session, id) => shelf(session).find(id),
  };
}
