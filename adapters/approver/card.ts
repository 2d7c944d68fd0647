import type { ApprovalItem, ApprovalRequest, DangerClass } from '../../ports/approval.ts';

const MEANINGS: Readonly<Record<DangerClass, string>> = {
  safe: 'reads inside the working directory',
  local_write: 'changes files in the working directory',
  install: 'installs software',
  network_egress: 'reaches the network',
  network_upload: 'sends data over the network',
  code_execution: 'can run any code',
  system_write: 'touches files outside the working directory, or secrets',
  unread_exec: 'runs a script that nobody read in this session',
  persistence: 'takes effect again later, without being asked',
  unknown: 'nobody can tell what it does',
  destructive: 'deletes or overwrites on a large scale',
  blocked: 'wrecks the machine',
};

/** What a person reads before they decide. */
export function cardOf(request: ApprovalRequest): string {
  const [first, ...more] = request.items;
  if (more.length === 0) return `\nApproval needed: ${first.tool}\n${linesOf(first)}\n`;
  const listed = request.items.map((item, index) => `  ${index + 1}. \`${item.tool}\` — \`${item.resource}\``);
  return `\n⚠️ ${request.items.length} tool actions require approval:\n${listed.join('\n')}\n`;
}

/** What `?` shows. */
export function contextOf(request: ApprovalRequest): string {
  const items = request.items.map(
    (item) => `  ${item.tool} (call ${item.callId})\n    ${item.class}: it ${MEANINGS[item.class]}\n    ${item.reason}`,
  );
  return `  session ${request.sessionId}, request ${request.id}\n${items.join('\n')}\n  ${trustOf(request)} Without an answer in ${Math.round(request.timeoutMs / 1000)} s it is denied.\n`;
}

function trustOf({ class: cls, allowTrust }: ApprovalRequest): string {
  if (cls === 'tool_batch') return 'One answer decides all of these calls, and no others.';
  return allowTrust ? 'Trust holds for this class until the session ends.' : 'This class is asked about every time.';
}

/** The question itself. With friction, a letter is not enough to say yes. */
export function questionOf({ class: cls, allowTrust, friction }: ApprovalRequest): string {
  const once = cls === 'tool_batch' ? '[a]pprove all of them once' : '[a]pprove once';
  const yes = friction ? 'type "approve" (several of this class were approved just now)' : once;
  const trust = allowTrust ? (friction ? ', "trust" for the session' : ', [t]rust this class for the session') : '';
  return `${yes}${trust}, [d]eny, [?] more: `;
}

function linesOf(item: ApprovalItem): string {
  return [`  Risk: ${item.class} (it ${MEANINGS[item.class]})`, `  Run:  ${item.resource}`, `  Why:  ${item.reason}`].join('\n');
}
