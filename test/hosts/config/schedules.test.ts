import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Home, makeHome } from './home.ts';

let home: Home;
beforeEach(async () => {
  home = await makeHome();
});
afterEach(() => home.remove());

const load = async (env: Record<string, string> = {}) => home.load({ env });

describe('schedules.*', () => {
  it('has defaults for everything', async () => {
    expect((await load()).config.schedules).toEqual({
      enabled: true,
      max_concurrent: 2,
      timezone: 'UTC',
      catchup: false,
      run_timeout_seconds: 900,
      daily_token_budget: 0,
      history_days: 90,
      deliver_folders: [],
      approver: 'none',
      allow_telegram_management: true,
      telegram_admin_chats: [],
      telegram_admin_users: [],
      dangerous: { classes: {}, allowlist: [], denylist: [] },
    });
  });

  it('can be written as variables, danger classes as JSON', async () => {
    const { config } = await load({
      ODEK_SCHEDULES_ENABLED: 'false',
      ODEK_SCHEDULES_MAX_CONCURRENT: '5',
      ODEK_SCHEDULES_TIMEZONE: 'Asia/Tokyo',
      ODEK_SCHEDULES_CATCHUP: '1',
      ODEK_SCHEDULES_RUN_TIMEOUT_SECONDS: '60',
      ODEK_SCHEDULES_DAILY_TOKEN_BUDGET: '1000',
      ODEK_SCHEDULES_APPROVER: 'telegram',
      ODEK_SCHEDULES_TELEGRAM_ADMIN_CHATS: '42, -7',
      ODEK_SCHEDULES_DANGEROUS_CLASSES: '{"network_upload":"allow","install":"deny"}',
      ODEK_SCHEDULES_DANGEROUS_ALLOWLIST: 'make nightly',
      ODEK_SCHEDULES_DANGEROUS_DENYLIST: 'git push,npm publish',
      ODEK_SCHEDULES_DANGEROUS_ACTION: 'prompt',
    });
    expect(config.schedules).toMatchObject({
      ...{ enabled: false, max_concurrent: 5, timezone: 'Asia/Tokyo', catchup: true, run_timeout_seconds: 60, daily_token_budget: 1000 },
      ...{ approver: 'telegram', telegram_admin_chats: ['42', '-7'] },
      dangerous: {
        classes: { network_upload: 'allow', install: 'deny' },
        allowlist: ['make nightly'],
        denylist: ['git push', 'npm publish'],
        action: 'prompt',
      },
    });
  });

  it('takes numbers for chats and people', async () => {
    await home.global({ schedules: { telegram_admin_chats: [42, -1001], telegram_admin_users: ['7'] } });
    expect((await load()).config.schedules).toMatchObject({ telegram_admin_chats: ['42', '-1001'], telegram_admin_users: ['7'] });
  });

  it.each(['destructive', 'blocked', 'persistence', 'unread_exec'])('never allows %s', async (cls) => {
    await home.global({ schedules: { dangerous: { classes: { [cls]: 'deny' } } } });
    await load();
    await expect(load({ ODEK_SCHEDULES_DANGEROUS_CLASSES: JSON.stringify({ [cls]: 'allow' }) })).rejects.toMatchObject({
      code: 'invalid_value',
    });
    await home.global({ schedules: { dangerous: { classes: { [cls]: 'prompt' } } } });
    await expect(load()).rejects.toMatchObject({ code: 'invalid_value', message: expect.stringContaining('this class never changes') });
  });

  it.each(['{"network_upload":', '[]', '{"nonsense":"allow"}', '{"install":"maybe"}'])('refuses classes such as %s', async (text) => {
    await expect(load({ ODEK_SCHEDULES_DANGEROUS_CLASSES: text })).rejects.toMatchObject({ code: 'invalid_value' });
  });

  it('has a secret that comes from secrets.env and is never shown', async () => {
    await home.secrets('ODEK_SCHEDULES_WEBHOOK_SECRET=whsec-0123456789abcdef\n');
    const { config } = await load();
    expect(config.schedules.webhook_secret).toBe('whsec-0123456789abcdef');
    expect(config.secrets).toContain('whsec-0123456789abcdef');
    await home.secrets('HOOK=whsec-fedcba9876543210\n');
    await home.global({ schedules: { webhook_secret: '$HOOK' } });
    expect((await load()).config.secrets).toContain('whsec-fedcba9876543210');
    await home.global({ schedules: { webhook_secret: 'short' } });
    await expect(load()).rejects.toMatchObject({ message: expect.not.stringContaining('"short"') });
  });

  it('is always deny where nobody can answer, whatever a variable says', async () => {
    const { warnings } = await load({ ODEK_SCHEDULES_DANGEROUS_NON_INTERACTIVE: 'allow' });
    expect(warnings).toContainEqual(expect.stringContaining('"deny" counts'));
  });
});
