import type { SessionHeader, SessionStore } from '../../../ports/session.ts';

/** The provider that the ephemeral session of `odek plan verify` names. A killed one leaves that session behind. */
export const CHECKS_PROVIDER = 'plan-checks';

/** Sessions that are looked through for one that a person began. */
const LOOKED_AT = 32;

/** The session that changed last, interrupted ephemeral ones included; what a killed verification left is none. */
export async function latestSession(sessions: SessionStore): Promise<SessionHeader | undefined> {
  const newest = await sessions.find({ limit: LOOKED_AT, unlisted: true });
  return newest.find(({ provider }) => provider !== CHECKS_PROVIDER);
}
