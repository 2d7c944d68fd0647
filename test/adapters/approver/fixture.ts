import { PassThrough } from 'node:stream';
import { createScriptedApprover } from '../../../adapters/approver/scripted.ts';
import { createStoredApprover } from '../../../adapters/approver/stored.ts';
import { createTerminalApprover } from '../../../adapters/approver/terminal.ts';
import type { ApprovalDecision, ApprovalRequest } from '../../../ports/approval.ts';
import type { ApproverSeat, PersonSays } from '../../contracts/approver.suite.ts';
import { createMemoryApprovals } from '../../fakes/approval-store.ts';

const TYPED: Readonly<Record<PersonSays, string>> = { yes: 'a\n', trust: 't\n', no: 'd\n', nonsense: 'sure, why not\n' };

/** A terminal approver on two streams, with a person who types. */
export async function terminalSeat(): Promise<ApproverSeat> {
  const input = new PassThrough();
  const output = new PassThrough();
  let text = '';
  output.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  return {
    approver: createTerminalApprover({ terminal: { input, output } }),
    shown: () => [...text.matchAll(/Run: +(.*)/g)].map((match) => match[1] ?? ''),
    say: (word) => void input.write(TYPED[word]),
    leave: () => void input.end(),
    close: async () => void input.destroy(),
  };
}

/** An approver that asks through a store, with a person at the other end of it. */
export async function storedSeat(): Promise<ApproverSeat> {
  const { store } = createMemoryApprovals(Date.now);
  const shown: ApprovalRequest[] = [];
  return {
    approver: createStoredApprover({
      open: async () => ({ approvals: store, close: async () => {} }),
      redact: (text) => text,
      onWaiting: (request) => void shown.push(request),
    }),
    shown: () => shown.map((request) => request.items[0].resource),
    say(word) {
      const answer = { yes: 'approve', trust: 'trust', no: 'deny', nonsense: 'deny' } as const;
      // Trust that was not offered is refused, and the request goes on waiting.
      store.answer(shown.at(-1)?.id ?? '', answer[word], { surface: 'test' }).catch(() => {});
    },
    leave: () => {},
    close: async () => {},
  };
}

const DECISIONS: Readonly<Record<PersonSays, ApprovalDecision>> = { yes: 'approve', trust: 'trust', no: 'deny', nonsense: 'deny' };

/** A scripted approver that is told its answers as it goes. */
export async function scriptedSeat(): Promise<ApproverSeat> {
  const approver = createScriptedApprover({ whenEmpty: 'wait' });
  return {
    approver,
    shown: () => approver.requests.map((request) => request.items[0].resource),
    say: (word) => approver.push(DECISIONS[word]),
    leave: () => {},
    close: async () => {},
  };
}
