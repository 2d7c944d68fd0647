import { createStoredApprover } from '../../adapters/approver/stored.ts';
import type { ApprovalRequest, Approver } from '../../ports/approval.ts';
import { type ApprovalAnswer, type ApprovalEnd, ApprovalError, type PendingApproval } from '../../ports/approval-store.ts';
import type { ChatButton, ChatCallback, ChatEntity, ChatText } from '../../ports/chat-message.ts';
import { type Base, messageOf } from './base.ts';
import type { Place } from './rooms.ts';

export const SURFACE = 'telegram';

/** Questions about calls, shown with buttons, from this process and from others. */
export interface Cards {
  /** Shows what waits and was not shown yet. Never rejects. */
  look(): Promise<void>;
  /** Whether a button is one of a card. */
  isFor(data: string): boolean;
  /** Gives the answer of whoever pressed it, and tells them what came of it. */
  press(callback: ChatCallback): Promise<void>;
  /** Asks people of Telegram about the calls of one run. */
  approverFor(users: readonly string[]): Approver;
}

const DATA = /^(apr|den|trs):([0-9a-f]{16})$/;
const ANSWERS: Readonly<Record<string, ApprovalAnswer>> = { apr: 'approve', den: 'deny', trs: 'trust' };
const MAX_TEXT = 4096;
const CUT = '… [truncated]';
const MAX_CARDS = 256;

const DECISIONS: Readonly<Record<ApprovalEnd['decision'], string>> = {
  approve: '✅ Approved',
  trust: '🔒 Trusted for this session',
  deny: '❌ Denied',
  timeout: '⌛ Nobody answered in time: denied',
};

/** Puts text together with the entities over it. */
function build(parts: readonly (readonly [text: string, type?: ChatEntity['type']])[]): ChatText {
  let text = '';
  const entities: ChatEntity[] = [];
  for (const [part, type] of parts) {
    if (type !== undefined && part !== '') entities.push({ type, offset: text.length, length: part.length });
    text += part;
  }
  return { text, entities };
}

/** A cut that leaves no half of a character. */
function cutTo(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const end = limit - CUT.length;
  const code = text.charCodeAt(end - 1);
  return `${text.slice(0, code >= 0xd800 && code <= 0xdbff ? end - 1 : end)}${CUT}`;
}

/** The text of a card; `decision` stands below it once there is one. */
export function cardText({ class: cls, items, friction, timeoutMs }: ApprovalRequest, decision?: string, origin?: string): ChatText {
  const many = items.length > 1;
  const head: (readonly [string, ChatEntity['type']?])[] = [
    ['⚠️ '],
    [many ? `${items.length} tool actions require approval` : 'Approval Required', 'bold'],
    [origin === undefined ? '' : `\n${origin}`],
    [many ? '\n' : `\nRisk: ${cls}\nWhy: ${items[0].reason}\n`],
  ];
  const foot: (readonly [string, ChatEntity['type']?])[] = [
    [friction && decision === undefined ? '\n⚠️ Several of this kind were approved just now. Read this one twice.' : ''],
    [decision === undefined ? `\nWithin ${Math.round(timeoutMs / 1000)} s; then it is denied.` : `\n${decision}`],
  ];
  const size = [...head, ...foot].reduce((sum, [text]) => sum + text.length, 0);
  const room = Math.max(64, Math.floor((MAX_TEXT - size) / items.length) - 160);
  const body = items.flatMap(({ tool, resource, class: itemClass }, index): (readonly [string, ChatEntity['type']?])[] => [
    [many ? `${index + 1}. ${tool} (${itemClass})\n` : ''],
    [cutTo(resource === '' ? tool : resource, many ? room : MAX_TEXT - size - 8), 'pre'],
    ['\n'],
  ]);
  const whole = build([...head, ...body, ...foot]);
  return whole.text.length <= MAX_TEXT ? whole : build([[cutTo(whole.text, MAX_TEXT)]]);
}

export function cardKeyboard({ id, allowTrust, friction }: ApprovalRequest): readonly (readonly ChatButton[])[] {
  const first = [
    { text: '✅ Approve', data: `apr:${id}` },
    { text: '❌ Deny', data: `den:${id}` },
  ];
  return allowTrust && !friction ? [first, [{ text: '🔒 Trust Session', data: `trs:${id}` }]] : [first];
}

function refusalText(error: unknown): string {
  if (!(error instanceof ApprovalError)) return '⚠️ That did not work. Try again.';
  switch (error.code) {
    case 'approval_not_yours':
      return '⛔ This question is not yours to answer.';
    case 'approval_answered':
      return 'It was answered already.';
    default:
      return '⌛ It is over: nobody waits for an answer any more.';
  }
}

export interface CardParts {
  /** Where the question belongs, and what is said about where it comes from; undefined: nowhere. */
  placeOf(pending: PendingApproval): Promise<{ readonly place: Place; readonly origin?: string } | undefined>;
}

export function createCards(base: Base, { placeOf }: CardParts): Cards {
  const { store, bot, talk, signal, log, mask } = base;
  const seen = new Set<string>();
  let looking: Promise<void> | undefined;
  let again = false;

  /** Shows a card and keeps it up to date until it has an end. */
  const show = async (pending: PendingApproval): Promise<void> => {
    const { request } = pending;
    const where = await placeOf(pending);
    if (where === undefined) {
      log('warning', `a question about ${request.items[0].tool} has no chat to be asked in; set telegram.default_chat_id`);
      return;
    }
    const sent = await talk.post(where.place, cardText(request, undefined, where.origin), { keyboard: cardKeyboard(request) });
    const end = await store.approvals.wait(request.id, signal);
    if (sent === undefined) return;
    const by = end.decision !== 'timeout' && end.by.surface !== SURFACE ? ` by ${end.by.surface}` : '';
    await talk.change(
      { chatId: sent.place.chatId, messageId: sent.messageId },
      cardText(request, `${DECISIONS[end.decision]}${by}`, where.origin),
    );
  };

  const lookOnce = async (): Promise<void> => {
    const pending = await store.approvals.pending();
    const open = new Set(pending.map(({ request }) => request.id));
    for (const id of seen) if (!open.has(id)) seen.delete(id);
    for (const each of pending) {
      if (each.audience?.surface !== SURFACE || seen.has(each.request.id) || seen.size >= MAX_CARDS) continue;
      seen.add(each.request.id);
      void show(each).catch((error: unknown) => {
        if (!signal.aborted) log('warning', `a question could not be shown: ${messageOf(error)}`);
      });
    }
  };

  const look = (): Promise<void> => {
    again = true;
    looking ??= (async () => {
      try {
        while (again && !signal.aborted) {
          again = false;
          await lookOnce();
        }
      } catch (error) {
        log('warning', `questions could not be looked at: ${messageOf(error)}`);
      } finally {
        looking = undefined;
      }
    })();
    return looking;
  };

  const answer = async (id: string, wish: ApprovalAnswer, user: number): Promise<string> => {
    const by = { surface: SURFACE, user: String(user) };
    const request = (await store.approvals.pending()).find((each) => each.request.id === id)?.request;
    // A button that the card did not have: whoever made it up gets the safe answer.
    const forged = wish === 'trust' && request !== undefined && (!request.allowTrust || request.friction);
    const decision = forged ? 'deny' : wish;
    await store.approvals.answer(id, decision, by);
    return forged ? '❌ Trust was not offered here: denied' : DECISIONS[decision];
  };

  return {
    look,
    isFor: (data) => DATA.test(data),
    async press({ id: callbackId, data, from }) {
      const [, kind = '', id = ''] = DATA.exec(data) ?? [];
      let toast: string;
      try {
        toast = await answer(id, ANSWERS[kind] ?? 'deny', from.id);
      } catch (error) {
        toast = refusalText(error);
      }
      await bot.messages.answerCallback(callbackId, toast, signal).catch(() => {});
    },
    approverFor: (users) =>
      createStoredApprover({
        open: async () => ({ approvals: store.approvals, close: async () => {} }),
        audience: { surface: SURFACE, users },
        redact: mask,
        onWaiting: () => void look(),
      }),
  };
}
