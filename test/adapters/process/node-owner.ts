/** A process that runs one command without a sandbox, started by a test that kills it. */
import { createProcessRunner } from '../../../adapters/process/node.ts';

const [records = '', cwd = '', command = ''] = process.argv.slice(2);
const runner = createProcessRunner({ environment: process.env, recordsFolder: records });
await runner.run({ command, cwd, maxBytes: 1000, timeoutMs: 60_000 }, new AbortController().signal);
