/** Whole processes: how soon odek is there, and what its first request weighs. */

import { odekArgs } from './loop.ts';
import { type Bench, cleanEnv, type ModelServer, median, runNode } from './processes.ts';
import type { Row } from './table.ts';

const ms = (value: number): string => `${value.toFixed(1)} ms`;

/** Files and shell: the tools whose request has a bound of its own. */
const SEVEN = ['read_file', 'write_file', 'patch', 'search_files', 'glob', 'file_info', 'shell'];
/** Most bytes of a first request with those seven. */
const FIRST_REQUEST_BYTES = 12_000;

export async function measureStart(bench: Bench, model: ModelServer, rounds: number): Promise<Row[]> {
  const empty: number[] = [];
  const version: number[] = [];
  const firstByte: number[] = [];
  let requestBytes = 0;
  const home = await bench.freshHome();
  const env = cleanEnv({ ODEK_HOME: home, ODEK_API_KEY: 'bench' });
  for (let round = 0; round < rounds; round += 1) {
    empty.push((await runNode(['-e', '0'], { env })).wallMs);
    const told = await runNode([bench.program, 'version'], { env });
    if (told.code !== 0) throw new Error(`odek version failed: ${told.stderr}`);
    version.push(told.wallMs);
    await model.script(1);
    const ran = await runNode(odekArgs(bench, model), { env, cwd: bench.workspace });
    if (ran.code !== 0) throw new Error(`odek run failed with ${ran.code}: ${ran.stderr}`);
    const seen = await model.seen();
    firstByte.push(seen.firstByteAt - ran.startedAt);
    requestBytes = seen.firstRequestBytes;
  }
  const base = median(empty);
  await model.script(1);
  await runNode(
    odekArgs(
      bench,
      model,
      SEVEN.flatMap((name) => ['--tool', name]),
    ),
    { env, cwd: bench.workspace },
  );
  const { firstRequestBytes: sevenBytes } = await model.seen();
  return [
    {
      what: `\`odek version\`, whole process, median of ${rounds}`,
      odek: ms(median(version)),
      bare: ms(base),
      ratio: median(version) / base,
      limit: 1.5,
    },
    {
      what: `first request byte of \`odek run\`, median of ${rounds}`,
      odek: ms(median(firstByte)),
      bare: ms(base),
      ratio: median(firstByte) / base,
      limit: 3,
    },
    {
      what: 'first request with the seven tools of files and shell',
      odek: `${sevenBytes} bytes`,
      bare: '–',
      bound: { value: sevenBytes, text: `≤ ${FIRST_REQUEST_BYTES} bytes`, kept: sevenBytes > 0 && sevenBytes <= FIRST_REQUEST_BYTES },
    },
    { what: 'first request with every tool', odek: `${requestBytes} bytes`, bare: '–' },
  ];
}
