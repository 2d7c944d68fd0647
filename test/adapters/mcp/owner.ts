// An odek that is killed: connects to a server, says so, and waits.
//   node owner.ts <script> <its options> <folder of records>
import { createMcpConnector } from '../../../adapters/mcp/index.ts';
import { childEnvironment } from '../../../adapters/process/environment.ts';
import { openProcessTrees } from '../../../adapters/process/trees.ts';

const [script = '', options = '', records = ''] = process.argv.slice(2);
const connector = createMcpConnector({
  version: '9.9.9',
  childEnvironment: (added) => childEnvironment(process.env, added),
  trees: openProcessTrees(records),
  redaction: { text: (text) => text, reach: 0 },
  http() {
    throw new Error('there is no HTTP here');
  },
});
const server = {
  name: 'scripted',
  origin: 'operator',
  protocol: '2025-03-26',
  timeoutMs: 10_000,
  maxResponseBytes: 1024 * 1024,
  maxResultChars: 1000,
  artifactRoots: [],
  autoApprove: false,
  approve: 'register',
  transport: 'stdio',
  command: process.execPath,
  args: [script, options],
  env: {},
  cwd: process.cwd(),
} as const;
await connector.connect(server, new AbortController().signal);
process.stdout.write('connected\n');
setInterval(() => {}, 1000);
