import assert from 'node:assert/strict';
import type { ApprovalRequest } from '../../ports/approval.ts';
import {
  APPROVAL_LIMITS,
  type ApprovalAnswer,
  type ApprovalEnd,
  type ApprovalError,
  type ApprovalStore,
} from '../../ports/approval-store.ts';
import { hasCode } from '../../ports/errors.ts';
import { approvalRequest } from './approver.suite.ts';
import type { ContractCase, ContractSuite } from './suite.ts';

/** One store, empty at first, and the processes that share it. */
export interface ApprovalStorePlace {
  /** The store as another process has it. */
  open(): Promise<ApprovalStore>;
  /** Asks from a process that is gone when this resolves. */
  askAndDie(request: ApprovalRequest): Promise<void>;
  /** Moves the calendar forward for all of them. */
  advance(ms: number): void;
  close(): Promise<void>;
}

export interface ApprovalStoreHarness {
  place(): Promise<ApprovalStorePlace>;
}

interface Trial extends ApprovalStorePlace {
  /** The process that asks. */
  readonly asker: ApprovalStore;
  /** The process of the person. */
  readonly person: ApprovalStore;
}

const never = new AbortController().signal;
const CLI = { surface: 'cli' } as const;
const HANG_MS = 5_000;

function request(id: string, changes: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return approvalRequest(`run ${id}`, { id, timeoutMs: 60_000, ...changes });
}

async function idsOf(store: ApprovalStore): Promise<readonly string[]> {
  return (await store.pending()).map((each) => each.request.id);
}

/** A wait that does not end is a failure and not a hang. */
async function ended(wait: Promise<ApprovalEnd>): Promise<ApprovalEnd> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`the wait did not end in ${HANG_MS} ms`)), HANG_MS);
  try {
    return await Promise.race([wait, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function refused(work: Promise<unknown>, code: string): Promise<ApprovalError> {
  try {
    await work;
  } catch (error) {
    assert.ok(hasCode(error, code), `${code}, not ${String(error)}`);
    return error as ApprovalError;
  }
  throw new assert.AssertionError({ message: `it should be refused with ${code}` });
}

function tried(id: string, sentence: string, run: (trial: Trial) => Promise<void>): ContractCase<ApprovalStoreHarness> {
  return {
    id: `approval-store/${id}`,
    sentence,
    async run(harness) {
      const place = await harness.place();
      try {
        await run({ ...place, asker: await place.open(), person: await place.open() });
      } finally {
        await place.close();
      }
    },
  };
}

/** The contract of {@link ApprovalStore}. */
export const approvalStoreSuite: ContractSuite<ApprovalStoreHarness> = {
  port: 'ApprovalStore',
  cases: [
    tried('pending', 'What was asked is pending for every process, oldest first, as it was asked.', async ({ asker, person }) => {
      const first = request('z', { items: [{ ...request('z').items[0], resource: 'echo "é\u0000\ud800\n😀"' }] });
      await asker.ask(first, { surface: 'telegram', users: ['7'] });
      await asker.ask(request('a'));
      const [one, two, ...more] = await person.pending();
      assert.deepEqual(more, []);
      assert.deepEqual(one?.request, first);
      assert.deepEqual(one?.audience, { surface: 'telegram', users: ['7'] });
      assert.deepEqual(two?.request, request('a'));
      assert.ok(two !== undefined && !('audience' in two));
      assert.equal(two.expiresAt, two.askedAt + 60_000);
      assert.deepEqual(await idsOf(asker), ['z', 'a']);
    }),
    tried(
      'first-answer',
      'The first answer counts and names who gave it; `wait` gives it to every process, also when it came before the wait.',
      async ({ asker, person, open }) => {
        await asker.ask(request('r'));
        const waiting = asker.wait('r', never);
        const by = { surface: 'telegram', user: '42' };
        const answers = [person, await open(), asker].map((store, index) =>
          store.answer('r', index === 0 ? 'approve' : 'deny', index === 0 ? by : CLI),
        );
        const settled = await Promise.allSettled(answers);
        assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1, 'one of three answers is taken');
        const end = await ended(waiting);
        const first = settled.findIndex(({ status }) => status === 'fulfilled');
        assert.deepEqual(end, first === 0 ? { decision: 'approve', by } : { decision: 'deny', by: CLI });
        assert.deepEqual(await ended((await open()).wait('r', never)), end);
        assert.deepEqual(await idsOf(person), []);
      },
    ),
    tried('second-answer', 'A second answer is refused with `approval_answered`, which names the first answerer.', async (trial) => {
      await trial.asker.ask(request('r'));
      await trial.person.answer('r', 'deny', { surface: 'web', user: 'ann' });
      const error = await refused(trial.person.answer('r', 'approve', CLI), 'approval_answered');
      assert.deepEqual(error.first, { decision: 'deny', by: { surface: 'web', user: 'ann' } });
      assert.match(error.message, /web:ann/);
      assert.deepEqual(await ended(trial.asker.wait('r', never)), error.first);
    }),
    tried(
      'time',
      'A request whose time limit has passed is not pending, its wait ends with `timeout`, and an answer is refused with `approval_over`.',
      async ({ asker, person, advance }) => {
        await asker.ask(request('short'));
        await asker.ask(request('long', { timeoutMs: 120_000 }));
        const waiting = asker.wait('short', never);
        advance(60_001);
        assert.deepEqual(await ended(waiting), { decision: 'timeout' });
        assert.deepEqual(await idsOf(person), ['long']);
        await refused(person.answer('short', 'approve', CLI), 'approval_over');
        assert.deepEqual(await ended(person.wait('short', never)), { decision: 'timeout' });
      },
    ),
    tried(
      'dead-asker',
      'A request whose asker died is not pending, and an answer to it is refused with `approval_over`.',
      async ({ person, asker, askAndDie }) => {
        await askAndDie(request('orphan'));
        await asker.ask(request('alive'));
        assert.deepEqual(await idsOf(person), ['alive']);
        await refused(person.answer('orphan', 'approve', CLI), 'approval_over');
        await person.answer('alive', 'approve', CLI);
      },
    ),
    tried(
      'withdraw',
      '`withdraw` ends a request that has no answer: it is not pending, an answer is refused with `approval_over`, and it changes nothing else.',
      async ({ asker, person }) => {
        for (const id of ['gone', 'answered', 'other']) await asker.ask(request(id));
        await person.answer('answered', 'approve', CLI);
        for (const id of ['gone', 'answered', 'never asked']) await asker.withdraw(id);
        assert.deepEqual(await idsOf(person), ['other']);
        await refused(person.answer('gone', 'approve', CLI), 'approval_over');
        assert.deepEqual(await ended(asker.wait('answered', never)), { decision: 'approve', by: CLI });
      },
    ),
    tried(
      'audience',
      'An answer from outside the audience is refused with `approval_not_yours` and leaves the request pending.',
      async ({ asker, person }) => {
        await asker.ask(request('r'), { surface: 'telegram', users: ['1', '2'] });
        for (const by of [CLI, { surface: 'telegram' }, { surface: 'telegram', user: '3' }, { surface: 'web', user: '1' }]) {
          await refused(person.answer('r', 'approve', by), 'approval_not_yours');
        }
        assert.deepEqual(await idsOf(person), ['r']);
        await person.answer('r', 'approve', { surface: 'telegram', user: '2' });
        await asker.ask(request('any'), { surface: 'web' });
        await refused(person.answer('any', 'deny', CLI), 'approval_not_yours');
        await person.answer('any', 'deny', { surface: 'web', user: 'whoever' });
      },
    ),
    tried(
      'trust',
      '`trust` where the request does not allow it is refused with `trust_not_offered` and leaves the request pending.',
      async ({ asker, person }) => {
        await asker.ask(request('no', { allowTrust: false }));
        await asker.ask(request('yes', { allowTrust: true }));
        await refused(person.answer('no', 'trust', CLI), 'trust_not_offered');
        await person.answer('yes', 'trust', CLI);
        assert.deepEqual(await idsOf(person), ['no']);
        assert.deepEqual(await ended(asker.wait('yes', never)), { decision: 'trust', by: CLI });
      },
    ),
    tried('not-found', 'A request that nobody asked is refused with `approval_not_found`.', async ({ person }) => {
      await refused(person.answer('nobody', 'approve', CLI), 'approval_not_found');
      await refused(person.wait('nobody', never), 'approval_not_found');
    }),
    tried(
      'limits',
      'What crosses the limits is refused: `approval_invalid` for one request, `approvals_full` for one too many.',
      async ({ asker, person, advance }) => {
        await asker.ask(request('fits'));
        const long = 'x'.repeat(APPROVAL_LIMITS.chars);
        await refused(asker.ask(request('fits')), 'approval_invalid');
        await refused(asker.ask(request('')), 'approval_invalid');
        await refused(asker.ask(request('big', { items: [{ ...request('big').items[0], resource: long }] })), 'approval_invalid');
        for (const timeoutMs of [0, -1, Number.NaN, APPROVAL_LIMITS.timeoutMs + 1]) {
          await refused(asker.ask(request('time', { timeoutMs })), 'approval_invalid');
        }
        const users = Array.from({ length: APPROVAL_LIMITS.users + 1 }, (_, index) => String(index));
        await refused(asker.ask(request('users'), { surface: 'web', users }), 'approval_invalid');
        await refused(person.answer('fits', 'approve', { surface: 'x'.repeat(APPROVAL_LIMITS.name + 1) }), 'approval_invalid');
        await refused(person.answer('fits', 'approve', { surface: 'cli', user: '\u001b[2K' }), 'approval_invalid');
        await refused(person.answer('fits', 'yes' as ApprovalAnswer, CLI), 'approval_invalid');
        for (let count = 1; count < APPROVAL_LIMITS.pending; count += 1) await asker.ask(request(`r${count}`));
        await refused(asker.ask(request('one too many')), 'approvals_full');
        assert.equal((await person.pending()).length, APPROVAL_LIMITS.pending);
        await person.answer('fits', 'deny', CLI);
        await asker.ask(request('place again'));
        advance(60_001);
        await asker.ask(request('after all ran out'));
        assert.deepEqual(await idsOf(person), ['after all ran out']);
      },
    ),
    tried(
      'signal',
      'When `signal` fires, `wait` rejects with `CancelledError` and the request stays pending.',
      async ({ asker, person }) => {
        await asker.ask(request('r'));
        const controller = new AbortController();
        const outcome = refused(ended(asker.wait('r', controller.signal)), 'cancelled');
        await new Promise((resolve) => setTimeout(resolve, 20));
        controller.abort();
        await outcome;
        await refused(ended(asker.wait('r', controller.signal)), 'cancelled');
        assert.deepEqual(await idsOf(person), ['r']);
      },
    ),
  ],
};
