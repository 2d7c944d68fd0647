import { describe, expect, it } from 'vitest';
import type { ResolvedConfig } from '../../../hosts/config/types.ts';
import { telegramFinding } from '../../../hosts/telegram/doctor.ts';

const look = (telegram: Partial<ResolvedConfig['telegram']>) =>
  telegramFinding({
    telegram: { allowed_users: [], allowed_chats: [], allow_all_users: false, ...telegram },
    schedules: { telegram_admin_users: [], telegram_admin_chats: [] },
  } as unknown as ResolvedConfig);

describe('odek doctor about the Telegram bot', () => {
  it('has nothing against none, and misses the token or the list of one that is meant', () => {
    expect(look({})).toEqual({ ok: true, text: 'no Telegram bot; none is needed' });
    expect(look({ allowed_users: ['1'] })).toMatchObject({ ok: false, text: expect.stringContaining('no bot token') });
    expect(look({ bot_token: '1:x' })).toMatchObject({ ok: false, text: expect.stringContaining('nobody is allowed') });
  });

  it('names nobody and no token, explains privacy mode, and warns of a bot that is open to all', () => {
    const well = look({ bot_token: '1:secret', allowed_users: ['77'] });
    expect(well).toMatchObject({ ok: true, text: 'Telegram bot: token set, 1 person may use it' });
    expect(well.advice).toContain('privacy mode');
    expect(JSON.stringify(well)).not.toMatch(/secret|77/);
    expect(look({ bot_token: '1:x', allow_all_users: true }).advice).toContain('everybody who finds the bot');
  });
});
