/** A process that runs one command in the sandbox, started by a test that kills it. */
import { createProcessRunner } from '../../../../adapters/process/node.ts';
import { openBwrap } from '../../../../adapters/process/sandbox/bwrap.ts';

const [work = '', state = '', home = '', command = ''] = process.argv.slice(2);
const environment = process.env;
const launcher = await openBwrap({ environment, workspace: work, stateDir: state, home, network: false, readonly: false });
await createProcessRunner({ environment, launcher }).run(
  { command, cwd: work, maxBytes: 1000, timeoutMs: 60_000 },
  new AbortController().signal,
);
