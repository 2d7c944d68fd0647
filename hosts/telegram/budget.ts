import { formatTokens } from '../cli/render/figures.ts';
import type { Base } from './base.ts';
import { TELEGRAM_POLICY } from './policy.ts';

const WARN_AT = 0.8;

/** Tokens, read and written, that all chats used since midnight of the machine's time zone. */
export async function tokensToday({ store, clock }: Pick<Base, 'store' | 'clock'>): Promise<number> {
  const midnight = new Date(clock.now()).setHours(0, 0, 0, 0);
  const totals = await store.usage.totals({ since: midnight, by: ['surface'] });
  return totals.filter(({ surface }) => surface === TELEGRAM_POLICY.surface).reduce((sum, { input, output }) => sum + input + output, 0);
}

/** The day's token budget: what is refused when it is used up, and what is told before that. */
export interface DailyBudget {
  /** Why nothing new may begin; undefined while it may. */
  refusal(): Promise<string | undefined>;
  /** To be told after a run; once a day and chat. */
  warning(chat: string): Promise<string | undefined>;
}

export function createDailyBudget(base: Pick<Base, 'store' | 'clock' | 'config'>): DailyBudget {
  const { daily_token_budget: budget } = base.config.telegram;
  const told = new Set<string>();
  return {
    async refusal() {
      if (budget === 0) return undefined;
      const used = await tokensToday(base);
      if (used < budget) return undefined;
      return `🚫 Today's token budget is used up: ${formatTokens(used)} of ${formatTokens(budget)}. It begins anew at midnight.`;
    },
    async warning(chat) {
      if (budget === 0) return undefined;
      const used = await tokensToday(base);
      const key = `${new Date(base.clock.now()).toDateString()} ${chat}`;
      if (used < budget * WARN_AT || told.has(key)) return undefined;
      if (told.size > 1_000) told.clear();
      told.add(key);
      return `⚠️ ${Math.floor((used / budget) * 100)} % of today's token budget is used: ${formatTokens(used)} of ${formatTokens(budget)}.`;
    },
  };
}
