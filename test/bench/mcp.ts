/** What a call of an MCP tool costs odek's client beside the bare client of the protocol's SDK, on the same server. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { cleanEnv, median, runNode } from './processes.ts';
import type { Row } from './table.ts';

const CLIENT = fileURLToPath(new URL('mcp-client.ts', import.meta.url));
const SERVER = fileURLToPath(new URL('mcp-server.ts', import.meta.url));
const LIMIT = 1.15;

type Report = Readonly<Record<string, number>>;

async function run(program: string, target: string, work: string): Promise<Report> {
  const ended = await runNode([CLIENT, program, target, work]);
  if (ended.code !== 0) throw new Error(`the ${program} client failed: ${ended.stderr}`);
  return JSON.parse(ended.stdout) as Report;
}

/** Medians of both programs, taken in turns so that a slow moment hits both. */
async function compare(target: string, work: string, rounds: number): Promise<(name: string) => { odek: number; sdk: number }> {
  const seen: Record<'odek' | 'sdk', Report[]> = { odek: [], sdk: [] };
  for (let round = 0; round < rounds; round += 1) {
    for (const program of ['odek', 'sdk'] as const) seen[program].push(await run(program, target, work));
  }
  const of = (program: 'odek' | 'sdk', name: string): number => median(seen[program].map((each) => each[name] ?? Number.NaN));
  return (name) => ({ odek: of('odek', name), sdk: of('sdk', name) });
}

async function measureOver(transport: string, target: string, rounds: number): Promise<Row[]> {
  const calls = await compare(target, 'calls', rounds);
  const large = await compare(target, 'large', rounds);
  const [cpu, speed, beyond] = [calls('cpu_ms'), calls('calls_per_second'), large('beyond_kb')];
  const mib = (kb: number): string => `${(kb / 1024).toFixed(1)} MiB`;
  return [
    {
      what: `CPU per MCP call over ${transport}, 16 in flight`,
      odek: `${cpu.odek.toFixed(3)} ms`,
      bare: `${cpu.sdk.toFixed(3)} ms`,
      ratio: cpu.odek / cpu.sdk,
      limit: LIMIT,
    },
    {
      what: `MCP calls per second over ${transport}, 16 in flight`,
      odek: speed.odek.toFixed(0),
      bare: speed.sdk.toFixed(0),
      ratio: speed.odek / speed.sdk,
    },
    {
      what: `peak memory beyond an MCP result of 10 MiB over ${transport}`,
      odek: mib(beyond.odek),
      bare: mib(beyond.sdk),
      ratio: beyond.odek / beyond.sdk,
      limit: LIMIT,
    },
  ];
}

export async function measureMcp(rounds: number): Promise<Row[]> {
  const server = spawn(process.execPath, [SERVER, 'http'], { stdio: ['pipe', 'pipe', 'inherit'], env: cleanEnv() });
  try {
    const url = await new Promise<string>((done, fail) => {
      createInterface({ input: server.stdout }).once('line', done);
      server.once('exit', (code) => fail(new Error(`the MCP server ended with ${code}`)));
    });
    return [...(await measureOver('stdio', 'stdio', rounds)), ...(await measureOver('HTTP', url, rounds))];
  } finally {
    server.stdin.end();
  }
}
