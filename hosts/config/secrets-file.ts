import { isLoose, readSmallFile } from './read-file.ts';

export interface SecretsFile {
  readonly values: ReadonlyMap<string, string>;
  readonly warnings: readonly string[];
}

const LINE = /^(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/;

/** `secrets.env`: `KEY=VALUE` lines. A file that others may read is refused as a whole, with a warning. */
export async function readSecretsFile(path: string): Promise<SecretsFile> {
  const reading = await readSmallFile(path);
  if (reading.state === 'absent') return { values: new Map(), warnings: [] };
  if (reading.state === 'bad') return { values: new Map(), warnings: [reading.problem] };
  if (isLoose(reading.mode)) {
    const mode = (reading.mode & 0o777).toString(8).padStart(4, '0');
    return { values: new Map(), warnings: [`${path} is not used: others may read it (mode ${mode}); run: chmod 600 ${path}`] };
  }
  return parseSecrets(reading.text, path);
}

/** Exported for its tests. A line that is no assignment is skipped with a warning that shows none of it. */
export function parseSecrets(text: string, path: string): SecretsFile {
  const values = new Map<string, string>();
  const warnings: string[] = [];
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = raw.trim();
    if (line === '' || line.startsWith('#')) continue;
    const [, name, value] = LINE.exec(line) ?? [];
    if (name === undefined || value === undefined) warnings.push(`${path}:${index + 1}: not KEY=VALUE; the line is skipped`);
    else values.set(name, unquoted(value));
  }
  return { values, warnings };
}

function unquoted(value: string): string {
  const quote = value[0];
  const quoted = value.length >= 2 && (quote === '"' || quote === "'") && value.endsWith(quote);
  return quoted ? value.slice(1, -1) : value;
}
