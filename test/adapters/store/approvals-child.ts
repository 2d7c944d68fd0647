/**
 * A process of its own that asks and answers.
 * `node approvals-child.ts <path> die <request>`: asks, then kills itself.
 * `node approvals-child.ts <path> wait <request>`: asks, prints "asked", then the end of the wait as JSON.
 * `node approvals-child.ts <path> answer <id> <decision> <user>`: prints "taken", or the error's code and message.
 */

import type { ApprovalAnswer } from '../../../ports/approval-store.ts';
import { hasCode } from '../../../ports/errors.ts';
import { open } from './fixture.ts';

const [path = '', command, subject = '', decision = '', user = ''] = process.argv.slice(2);
const { approvals, close } = await open(path, { surface: 'child' });

const commands: Readonly<Record<string, () => Promise<void>>> = {
  async die() {
    await approvals.ask(JSON.parse(subject));
    process.kill(process.pid, 'SIGKILL');
  },
  async wait() {
    const request = JSON.parse(subject);
    await approvals.ask(request);
    console.log('asked');
    console.log(JSON.stringify(await approvals.wait(request.id, new AbortController().signal)));
  },
  async answer() {
    try {
      await approvals.answer(subject, decision as ApprovalAnswer, { surface: 'child', user });
      console.log('taken');
    } catch (error) {
      console.log(hasCode(error, 'approval_answered') ? `${error.code} ${error.message}` : String(error));
    }
  },
};

await commands[command ?? '']?.();
await close();
