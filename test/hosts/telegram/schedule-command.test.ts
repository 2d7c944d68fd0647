import { describe, expect, it } from 'vitest';
import { parseAdd } from '../../../hosts/telegram/commands/schedule.ts';

describe('/schedule add', () => {
  it.each([
    ['@daily Say hello', { cron: '@daily', task: 'Say hello' }],
    ['30  7 * * 1-5 Say\nhello', { cron: '30 7 * * 1-5', task: 'Say\nhello' }],
    ['@daily a | b', { cron: '@daily', task: 'a | b' }],
    ['@daily a | catchup', { cron: '@daily', task: 'a', catchUp: true }],
    ['@daily a | b | name="x y" tz=UTC disabled', { cron: '@daily', task: 'a | b', name: 'x y', timezone: 'UTC', enabled: false }],
    ['@daily a | disabled=no catchup=false deliver=log', { cron: '@daily', task: 'a', enabled: true, catchUp: false, deliver: 'log' }],
    ['@daily a | name=', { cron: '@daily', task: 'a | name=' }],
    ['@daily a | colour=red', { cron: '@daily', task: 'a | colour=red' }],
  ])('reads %j', (text, expected) => {
    expect(parseAdd(text)).toEqual(expected);
  });

  it.each(['', '@daily', '* * * * *', '30 7 * * task'])('refuses %j for want of a time or a task', (text) => {
    expect(() => parseAdd(text)).toThrow(expect.objectContaining({ code: 'missing_argument' }));
  });

  it('refuses a switch that is neither on nor off', () => {
    expect(() => parseAdd('@daily a | catchup=maybe')).toThrow(expect.objectContaining({ code: 'invalid_value' }));
  });
});
