import type { RunEvent } from '../../../ports/event.ts';
import { counted } from './figures.ts';
import { sanitise } from './sanitise.ts';

/** One thing worth a dim line. `warning` is shown even where little else is. */
export interface Note {
  readonly text: string;
  readonly warning: boolean;
}

const MARGIN_CALIBRATED = 'margin_calibrated';

const info = (text: string): Note => ({ text, warning: false });
const warn = (text: string): Note => ({ text, warning: true });

function planNote(event: RunEvent): Note | undefined {
  switch (event.type) {
    case 'plan_created':
      return info(`plan v${event.data.version}: ${counted(event.data.steps, 'step')}`);
    case 'plan_updated':
      return info(
        `plan v${event.data.version}: ${event.data.done} of ${event.data.steps} done${event.data.blocked > 0 ? `, ${event.data.blocked} blocked` : ''}`,
      );
    case 'plan_blocked':
      return info(`plan v${event.data.version}: ${counted(event.data.blocked, 'step')} blocked`);
    case 'plan_reassessment':
      return info('the plan is reassessed after repeated failures');
    default:
      return undefined;
  }
}

/** What no other event tells: a hint carries a budget warning, and `context_trimmed` tells its own figures. */
function signalNote(name: string, detail: string): Note | undefined {
  if (name === 'budget_warning') return undefined;
  if (name !== 'context_trimmed') return info(`${name.replaceAll('_', ' ')}: ${detail}`);
  return detail === MARGIN_CALIBRATED ? info('the model counts more tokens than estimated: requests are kept smaller') : undefined;
}

/** What a person is told of `event` beside answer, reasoning and tool calls; `undefined` for nothing. */
export function noteOf(event: RunEvent): Note | undefined {
  switch (event.type) {
    case 'notice':
      return event.level === 'warning' ? warn(event.text) : info(event.text);
    case 'hint':
      return info(event.text);
    case 'signal':
      return signalNote(event.name, event.detail);
    case 'context_trimmed':
      return info(
        `context trimmed: ${counted(event.data.dropped_groups, 'group')} dropped, ${counted(event.data.truncated_results, 'result')} shortened`,
      );
    case 'sink_dropped':
      return warn(`event sink "${event.sink}" missed ${counted(event.count, 'event')}`);
    case 'verification_completed':
      return info(`verification: ${event.data.verdict}`);
    case 'subagent_denied':
      return warn(`sub-agent ${event.data.task_index}: denied (${event.data.class}): ${event.data.reason}`);
    case 'subagent_completed':
      return info(`sub-agent ${event.data.task_id}: ${event.data.status}`);
    case 'bg_exited':
      return info(`background job ${event.data.job_id}: ${event.data.status}`);
    default:
      return planNote(event);
  }
}

/** The note's text as lines for a terminal. */
export function noteLines(note: Note): string[] {
  return sanitise(note.text).trim().split('\n');
}
