/** A process that starts one job and tells its own state: started by tests that end it in their way. */
import { setTimeout as sleep } from 'node:timers/promises';
import { createJobRunner } from '../../../adapters/process/jobs.ts';

const [records = '', cwd = '', command = '', how = ''] = process.argv.slice(2);
const runner = createJobRunner({ environment: process.env, recordsFolder: records });
await runner.start({ command, cwd }, () => {});
console.log('started');
if (how === 'exit') {
  await sleep(300);
  process.exit(0);
}
if (how === 'listens') {
  process.on('SIGTERM', () => {
    void runner.close().then(() => process.exit(7));
  });
  console.log('listening');
}
