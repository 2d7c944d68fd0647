/**
 * A process of its own that works on the inbox of a database.
 * `node inbox-child.ts <path> claim`: claims one update, prints its id, and waits to be killed.
 * `node inbox-child.ts <path> begin`: the same, and begins it.
 * `node inbox-child.ts <path> drain`: handles what waits, prints each id, and ends.
 */
import { writeSync } from 'node:fs';
import { movableClock, open } from './fixture.ts';

const [path = '', command] = process.argv.slice(2);
const store = await open(path, { surface: 'telegram', clock: movableClock() });
const inbox = store.inbox('bot');

if (command === 'drain') {
  for (let claim = await inbox.claim(); claim !== undefined; claim = await inbox.claim()) {
    await inbox.begin(claim);
    writeSync(1, `${claim.update.id}\n`);
    await inbox.finish(claim);
  }
  await store.close();
} else {
  const claim = await inbox.claim();
  if (claim !== undefined && command === 'begin') await inbox.begin(claim);
  writeSync(1, `${claim?.update.id}\n`);
  setInterval(() => undefined, 1_000);
}
