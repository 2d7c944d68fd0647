import type { PlanView } from '../../../ports/plan.ts';
import { planText } from '../format/plan.ts';
import type { CommandCall } from './command.ts';

/** A plan as the person reads it, below a line that says whose it is. */
export async function sayPlan({ bot, place }: Pick<CommandCall, 'bot' | 'place'>, view: PlanView, head?: string): Promise<void> {
  const { text, entities } = planText(view);
  const above = head === undefined ? '' : `${head}\n`;
  await bot.base.talk.post(place, {
    text: above + text,
    entities: entities.map((entity) => ({ ...entity, offset: entity.offset + above.length })),
  });
}
