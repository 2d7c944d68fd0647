import { describe, expect, it } from 'vitest';
import type { SchedulesConfig, TelegramConfig } from '../../../hosts/config/types.ts';
import { accessOf } from '../../../hosts/telegram/access.ts';

const rules = (telegram: Partial<TelegramConfig>, schedules: Partial<SchedulesConfig> = {}) =>
  accessOf(
    { allowed_users: [], allowed_chats: [], allow_all_users: false, ...telegram } as unknown as TelegramConfig,
    { telegram_admin_users: [], telegram_admin_chats: [], ...schedules } as unknown as SchedulesConfig,
  );

describe('who may use the bot', () => {
  it('is nobody without a list, and that is an error at the start', () => {
    expect(() => rules({})).toThrow(expect.objectContaining({ code: 'telegram_open' }));
  });

  it('are the people on the list, the chats on the list, or both where there are two lists', () => {
    const people = rules({ allowed_users: ['1'] });
    expect([people.mayUse(1, 5), people.mayUse(2, 5), people.mayUse(undefined, 5), people.mayUse(1, undefined)]).toEqual([
      true,
      false,
      false,
      false,
    ]);
    const chats = rules({ allowed_chats: ['-5'] });
    expect([chats.mayUse(9, -5), chats.mayUse(9, -6)]).toEqual([true, false]);
    const both = rules({ allowed_users: ['1'], allowed_chats: ['-5'] });
    expect([both.mayUse(1, -5), both.mayUse(1, -6), both.mayUse(2, -5)]).toEqual([true, false, false]);
  });

  it('is everybody where the operator says so, in the chats of the list where there is one', () => {
    expect(rules({ allow_all_users: true }).mayUse(7, 8)).toBe(true);
    const some = rules({ allow_all_users: true, allowed_chats: ['8'] });
    expect([some.mayUse(7, 8), some.mayUse(7, 9)]).toEqual([true, false]);
  });
});

describe('who is an admin', () => {
  it('is nobody by default, and whoever writes in the default chat where that is all there is', () => {
    expect(rules({ allowed_users: ['1'] }).isAdmin(1, 1)).toBe(false);
    const home = rules({ allowed_users: ['1'], default_chat_id: '1' });
    expect([home.isAdmin(1, 1), home.isAdmin(1, 2)]).toEqual([true, false]);
  });

  it('are those of the lists, who must be allowed to use the bot as well', () => {
    const listed = rules({ allowed_users: ['1', '2'], default_chat_id: '3' }, { telegram_admin_users: ['1', '9'] });
    expect([listed.isAdmin(1, 3), listed.isAdmin(2, 3), listed.isAdmin(9, 3)]).toEqual([true, false, false]);
    const both = rules({ allowed_users: ['1'] }, { telegram_admin_users: ['1'], telegram_admin_chats: ['-5'] });
    expect([both.isAdmin(1, -5), both.isAdmin(1, 1)]).toEqual([true, false]);
  });
});
