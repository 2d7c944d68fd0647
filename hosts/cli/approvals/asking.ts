import { createStoredApprover } from '../../../adapters/approver/stored.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';
import type { ApprovalRequest, Approver } from '../../../ports/approval.ts';
import type { ResolvedConfig } from '../../config/types.ts';
import type { HostPolicy } from '../../policy.ts';
import { sanitiseLine } from '../render/sanitise.ts';
import { openConfiguredStore } from '../store.ts';

/** What decides who is asked. */
export interface Asking {
  readonly config: ResolvedConfig;
  readonly policy: HostPolicy;
  /** Tells on this terminal that a request waits elsewhere. */
  log(level: string, text: string): void;
}

const SHOWN_CHARS = 160;

function waitingText({ id, class: cls, items, timeoutMs }: ApprovalRequest): string {
  const what = items.map(({ tool, resource }) => `${tool} ${resource}`).join('; ');
  const shown = sanitiseLine(what.length > SHOWN_CHARS ? `${what.slice(0, SHOWN_CHARS)}…` : what);
  return `approval needed (${cls}): ${shown}\nwithin ${Math.round(timeoutMs / 1000)} s: odek approvals show ${id}`;
}

/** Asks through the state folder, for whoever answers with `odek approvals`; says so on this terminal. */
export function askingElsewhere({ config, policy, log }: Asking): Approver {
  return createStoredApprover({
    open: () => openConfiguredStore(config, policy.surface),
    redact: createRedactor(config.secrets).text,
    onWaiting: (request) => log('warning', waitingText(request)),
  });
}
