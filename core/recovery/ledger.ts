import type { DangerClass } from '../../ports/approval.ts';
import type { ToolOutcome } from '../../ports/message.ts';
import type { PreparedCall } from '../agent/prepare.ts';
import { displayText } from '../approvals/display.ts';
import type { Judgement } from '../approvals/judge.ts';
import type { Denial } from './denials.ts';

/** A call of the run that completed and acted on the user's world. */
interface Action {
  /** `write_file "notes.txt"`: one line, redacted, bounded, without brackets. */
  readonly label: string;
  readonly command: boolean;
  /** Known to have changed something; a command of an unknown kind only ran. */
  readonly changes: boolean;
}

interface EndedAction {
  readonly prepared: PreparedCall;
  readonly judgement: Judgement | undefined;
  readonly outcome: ToolOutcome;
}

/** What one run did, in the order in which it was done. */
export interface ActionLedger {
  record(ended: EndedAction): void;
  /** Labels, without repeats, of the actions that contradict a denial. */
  against(denials: ReadonlySet<Denial>): readonly string[];
}

const CHANGING: ReadonlySet<DangerClass> = new Set(['local_write', 'install', 'system_write', 'persistence', 'destructive']);
const MAX_ACTIONS = 64;
const SHOWN_CHARS = 80;

function labelOf(tool: string, resource: string, redact: (text: string) => string): string {
  const shown = displayText(redact(resource), SHOWN_CHARS)
    .replace(/\s+/g, ' ')
    .replaceAll('[', '(')
    .replaceAll(']', ')')
    .replaceAll('"', "'");
  return `${tool} "${shown.trim()}"`;
}

function actionOf({ prepared, judgement }: EndedAction, redact: (text: string) => string): Action | undefined {
  if (!('tool' in prepared) || judgement === undefined || judgement.class === 'safe') return undefined;
  const command = prepared.effects?.command !== undefined;
  const writes = (prepared.effects?.writes ?? []).length > 0;
  if (!command && !writes) return undefined;
  const changes = writes || judgement.classes.some((each) => CHANGING.has(each));
  return { label: labelOf(prepared.call.name, judgement.resource, redact), command, changes };
}

const CONTRADICTS: Readonly<Record<Denial, (action: Action, allWell: boolean) => boolean>> = {
  changes: ({ changes }) => changes,
  commands: ({ command }) => command,
  command: ({ command }, allWell) => command && allWell,
  blocked: (_action, allWell) => allWell,
  anything: () => true,
};

/** `redact` masks secrets in labels. At most 64 different actions are kept. */
export function createLedger(redact: (text: string) => string): ActionLedger {
  const actions = new Map<string, Action>();
  let allWell = true;
  return {
    record(ended) {
      if (ended.outcome !== 'completed') {
        allWell = false;
        return;
      }
      const action = actionOf(ended, redact);
      if (action === undefined) return;
      const known = actions.get(action.label);
      if (known === undefined && actions.size >= MAX_ACTIONS) return;
      actions.set(action.label, known?.changes ? known : action);
    },
    against: (denials) =>
      [...actions.values()]
        .filter((action) => [...denials].some((denial) => CONTRADICTS[denial](action, allWell)))
        .map(({ label }) => label),
  };
}
