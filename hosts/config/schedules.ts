import { DANGER_CLASSES, type DangerAction, type DangerClass } from '../../ports/approval.ts';
import { ConfigError } from '../../ports/errors.ts';
import { checkValue, invalid, isObject, short } from './check-value.ts';
import { CONFIG_KEYS } from './keys.ts';
import { type Entry, isFixedClass } from './layer.ts';
import type { ConfigValue, SchedulesConfig } from './types.ts';

/** Holds a JSON object: danger class → action. */
export const SCHEDULE_CLASSES = 'ODEK_SCHEDULES_DANGEROUS_CLASSES';

const CLASSES = 'schedules.dangerous.classes.';

/** The entries of that variable. Throws `ConfigError` `invalid_value`. */
export function scheduleClasses(text: string | undefined, where: string, warn: (text: string) => void): Entry[] {
  const spec = CONFIG_KEYS.find(({ key }) => key === `${CLASSES}<class>`);
  if (text === undefined || text.trim() === '' || spec === undefined) return [];
  return Object.entries(parsed(text, where)).map(([name, raw]): Entry => {
    const key = `${CLASSES}${name}`;
    const origin = { key: `${SCHEDULE_CLASSES} ${short(name)}`, where, fromText: true };
    if (!(DANGER_CLASSES as readonly string[]).includes(name)) throw invalid(spec, name, origin, `one of ${DANGER_CLASSES.join(', ')}`);
    const value = checkValue(spec, raw, origin, warn);
    if (value !== 'deny' && isFixedClass(key)) throw invalid(spec, raw, origin, '"deny": this class never changes');
    return { key, spec, value };
  });
}

function parsed(text: string, where: string): Readonly<Record<string, unknown>> {
  const limit = 'a JSON object of danger classes and their actions';
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Told below, like JSON of another kind.
  }
  throw new ConfigError('invalid_value', `${SCHEDULE_CLASSES} must be ${limit}, not ${short(text)} (${where})`, { value: text, limit });
}

/** `schedules.*` in the configuration's own shape. */
export function schedulesOf(values: ReadonlyMap<string, ConfigValue>): SchedulesConfig {
  const of = <T extends ConfigValue>(name: string): T => {
    const key = `schedules.${name}`;
    return (values.get(key) ?? CONFIG_KEYS.find((spec) => spec.key === key)?.default) as T;
  };
  const list = (name: string): readonly string[] => (values.get(`schedules.${name}`) as readonly string[] | undefined) ?? [];
  const optional = <K extends string>(name: K): { [P in K]?: string } =>
    values.has(`schedules.${name}`) ? ({ [name]: of<string>(name) } as { [P in K]?: string }) : {};
  const action = values.get('schedules.dangerous.action') as DangerAction | undefined;
  const classes = [...values]
    .filter(([key]) => key.startsWith(CLASSES))
    .map(([key, value]) => [key.slice(CLASSES.length) as DangerClass, value as DangerAction] as const);
  return {
    enabled: of('enabled'),
    max_concurrent: of('max_concurrent'),
    timezone: of('timezone'),
    catchup: of('catchup'),
    run_timeout_seconds: of('run_timeout_seconds'),
    daily_token_budget: of('daily_token_budget'),
    history_days: of('history_days'),
    deliver_folders: list('deliver_folders'),
    ...optional('webhook_secret'),
    ...optional('health_addr'),
    approver: of<SchedulesConfig['approver']>('approver'),
    allow_telegram_management: of('allow_telegram_management'),
    telegram_admin_chats: list('telegram_admin_chats'),
    telegram_admin_users: list('telegram_admin_users'),
    dangerous: {
      classes: Object.fromEntries(classes),
      allowlist: list('dangerous.allowlist'),
      denylist: list('dangerous.denylist'),
      ...(action !== undefined && { action }),
    },
  };
}
