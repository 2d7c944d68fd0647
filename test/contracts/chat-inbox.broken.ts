import type { ChatInbox } from '../../ports/chat-inbox.ts';
import { createFakeInboxes } from '../fakes/chat-inbox.ts';
import type { ChatInboxHarness } from './chat-inbox.suite.ts';
import type { BrokenAdapter } from './suite.ts';

/** The fake's place, with `fault` laid over each inbox of it. */
export function fakeInboxPlace(fault: (inbox: ChatInbox) => Partial<ChatInbox> = () => ({})): ChatInboxHarness {
  return {
    async place() {
      const inboxOf = createFakeInboxes((owner) => owner === 'dead');
      const faulty = (owner: string): ChatInbox => {
        const inbox = inboxOf(owner);
        return { ...inbox, ...fault(inbox) };
      };
      return { here: faulty('here'), there: faulty('there'), dead: faulty('dead'), close: async () => undefined };
    },
  };
}

const broken = (name: string, caughtBy: string, fault: (inbox: ChatInbox) => Partial<ChatInbox>): BrokenAdapter<ChatInboxHarness> => ({
  name,
  caughtBy: `chat-inbox/${caughtBy}`,
  harness: fakeInboxPlace(fault),
});

/** Inboxes that each break one sentence. */
export const brokenChatInboxes: readonly BrokenAdapter<ChatInboxHarness>[] = [
  broken('keeps its offset in memory', 'record', () => ({ stand: async () => ({ offset: 0, waiting: 2, handling: 0 }) })),
  broken('believes that every update is new', 'once', (inbox) => {
    let era = 0;
    return {
      record: (updates, rules) => {
        era += 1;
        return inbox.record(
          updates.map((each) => ({ ...each, id: each.id + era * 1000 })),
          rules,
        );
      },
    };
  }),
  broken('takes every lower id for a known one', 'anew', (inbox) => {
    let highest = 0;
    return {
      record: (updates, rules) => {
        const newer = updates.filter(({ id }) => id > highest);
        highest = Math.max(highest, ...updates.map(({ id }) => id));
        return inbox.record(newer, rules);
      },
    };
  }),
  broken('handles what is old', 'skip', (inbox) => ({ record: (updates, rules) => inbox.record(updates, { ...rules, oldest: 0 }) })),
  broken('gives the newest to everyone', 'claim', (inbox) => {
    let last: Awaited<ReturnType<ChatInbox['claim']>>;
    return {
      async claim() {
        last = (await inbox.claim()) ?? last;
        return last;
      },
    };
  }),
  broken('begins with the claim', 'not-begun', (inbox) => ({
    async claim() {
      const claim = await inbox.claim();
      if (claim !== undefined) await inbox.begin(claim);
      return claim;
    },
  })),
  broken('gives an interrupted one as a new one', 'interrupted', (inbox) => ({
    async claim() {
      const claim = await inbox.claim();
      return claim === undefined ? undefined : { ...claim, interrupted: false };
    },
  })),
  broken('passes over a lost claim', 'lost', (inbox) => ({ finish: (claim) => inbox.finish(claim).catch(() => undefined) })),
  broken('remembers everything', 'bound', (inbox) => {
    const known = new Set<number>();
    return {
      record: (updates, rules) => {
        const newer = updates.filter(({ id }) => !known.has(id));
        for (const { id } of updates) known.add(id);
        return inbox.record(newer, rules);
      },
    };
  }),
  broken('counts nothing', 'stand', (inbox) => ({ stand: async (now) => ({ ...(await inbox.stand(now)), waiting: 0 }) })),
];
