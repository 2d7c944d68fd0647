import { Readable, Writable } from 'node:stream';
import type { TerminalIo } from '../../../hosts/cli/command.ts';
import { main } from '../../../hosts/cli/main.ts';

export interface Spoken {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command line in this process, piped, and returns what it said. */
export async function odek(
  argv: readonly string[],
  given: {
    readonly env?: Record<string, string | undefined>;
    readonly cwd?: string;
    readonly columns?: number;
    readonly tty?: boolean;
  } = {},
): Promise<Spoken> {
  const stdout = collector();
  const stderr = collector();
  const tty = given.tty === true;
  const io: TerminalIo = {
    stdout: stdout.stream,
    stderr: stderr.stream,
    stdin: Readable.from([]),
    stdoutIsTty: tty,
    stderrIsTty: tty,
    stdinIsTty: tty,
    columns: given.columns ?? 80,
  };
  const code = await main(argv, io, given.env ?? {}, given.cwd ?? process.cwd());
  return { code, out: stdout.text(), err: stderr.text() };
}

function collector(): { stream: Writable; text(): string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(Buffer.from(chunk));
      done();
    },
  });
  return { stream, text: () => Buffer.concat(chunks).toString('utf8') };
}
