import type { RunEvent, RunEventBody } from '../../ports/event.ts';

import type { AgentDeps } from './settings.ts';

export type Emit = (body: RunEventBody) => void;

/** Words of others that come with an event: a service's notice, an error, what a person is asked. All else is masked where it is made. */
function masked(body: RunEventBody, redact: (text: string) => string): RunEventBody {
  if (body.type === 'notice' || body.type === 'hint') return { ...body, text: redact(body.text) };
  if (body.type === 'signal') return { ...body, detail: redact(body.detail) };
  if (body.type === 'subagent_denied') return { ...body, data: { ...body.data, reason: redact(body.data.reason) } };
  return body;
}

/** Stamps events with run, session and time, and keeps a throwing listener away from the run. */
export function createEmitter(
  listener: (event: RunEvent) => void,
  { clock, redactor }: Pick<AgentDeps, 'clock' | 'redactor'>,
  runId: string,
  sessionId: string,
): Emit {
  return (body) => {
    try {
      listener({ ...masked(body, redactor.text), runId, sessionId, at: clock.now() });
    } catch {
      // A view or sink that fails must not change what the run does.
    }
  };
}
