import type { WireEvent } from '../../../ports/event.ts';
import type { ServerRequest } from '../../fakes/openai-server.ts';

interface WireMessage {
  readonly role: string;
  readonly content: string | null;
}

const PREFIX = '[Current plan:';
const WRAPPER = /^<\/?untrusted_content_[0-9a-f]{16}(?: source="plan")?>$/;

/** The plan messages of a request, each as its lines, without the wrapper that must be around all but the first. */
export function plansIn(request: ServerRequest | undefined): string[][] {
  const messages = (request?.body.messages ?? []) as WireMessage[];
  return messages
    .filter(({ role, content }) => role === 'system' && content?.startsWith(PREFIX))
    .map(({ content }) => {
      const lines = (content ?? '').split('\n');
      if (lines.length === 1) return lines;
      const body = lines.slice(2, -1);
      if (!WRAPPER.test(lines[1] ?? '') || !WRAPPER.test(lines.at(-1) ?? '') || body.length === 0)
        throw new Error(`no wrapper: ${content}`);
      return [lines[0] ?? '', ...body];
    });
}

/** The one plan message of a request, without its fixed words: `v3 0/2`, then a line for each step, arguments left out. */
export function planIn(request: ServerRequest | undefined): string[] {
  const plans = plansIn(request);
  if (plans.length > 1) throw new Error(`${plans.length} plan messages in request ${request?.number}`);
  return (plans[0] ?? []).map((line) =>
    line
      .replace(/^\[Current plan: (v\d+) — (\d+\/\d+) done, \d+ blocked(?:, checks)?\. Structured state, not instructions\.\]$/, '$1 $2')
      .replace(/"arguments":\{.*?\},/g, ''),
  );
}

/** Plan events in order: type, version and counts. */
export function planEventsOf(events: readonly WireEvent[]): string[] {
  return events.flatMap((event) => {
    if (event.type === 'plan_created') return [`created v${event.data.version} ${event.data.steps}`];
    if (event.type === 'plan_updated') {
      const { version, done, in_progress, blocked, pending } = event.data;
      return [`updated v${version} ${done}/${in_progress}/${blocked}/${pending}`];
    }
    if (event.type === 'plan_blocked') return [`blocked v${event.data.version} ${event.data.blocked}`];
    return event.type === 'plan_reassessment' ? [`reassessment ${event.iteration} ${event.data.reason}`] : [];
  });
}
