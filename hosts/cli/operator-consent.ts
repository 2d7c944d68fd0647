import { createTurns } from '../../core/approvals/turns.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ResolvedConfig } from '../config/types.ts';
import type { Edges } from '../environment.ts';
import type { Consent } from '../mcp-client/consent.ts';

type Person = Pick<Edges, 'approver' | 'clarifier' | 'consent'>;

/** The operator at the controlling terminal, asked about MCP servers; undefined where there is no terminal. */
export async function terminalConsent(clock: Pick<Clock, 'after'>): Promise<Consent | undefined> {
  const { openTerminal } = await import('../../adapters/approver/terminal.ts');
  if (openTerminal() === undefined) return undefined;
  return async (request, signal) => (await import('../mcp-client/consent.ts')).askConsent(request, signal, clock);
}

/** The same person as before, who can also be asked about MCP servers, one question at a time. The very same where none is configured. */
export async function withConsent(person: Person, { mcp_servers }: Pick<ResolvedConfig, 'mcp_servers'>, clock: Clock): Promise<Person> {
  const consent = Object.keys(mcp_servers).length === 0 ? undefined : await terminalConsent(clock);
  if (consent === undefined) return person;
  const { approver, clarifier } = person;
  const turns = createTurns();
  return {
    ...(approver && { approver: { decide: (request, signal) => turns.take(signal, () => approver.decide(request, signal)) } }),
    ...(clarifier && { clarifier: { ask: (question, signal) => turns.take(signal, () => clarifier.ask(question, signal)) } }),
    consent: (request, signal) => turns.take(signal, () => consent(request, signal)),
  };
}
