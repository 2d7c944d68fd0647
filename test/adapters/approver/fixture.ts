import { PassThrough } from 'node:stream';
import { createScriptedApprover } from '../../../adapters/approver/scripted.ts';
import { createTerminalApprover } from '../../../adapters/approver/terminal.ts';
import type { ApprovalDecision } from '../../../ports/approval.ts';
import type { ApproverSeat, PersonSays } from '../../contracts/approver.suite.ts';

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
