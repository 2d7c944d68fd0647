import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../hosts/cli/commands.ts';
import { EXIT } from '../../hosts/cli/exit-codes.ts';
import { SCHEDULE_ACTIONS } from '../../hosts/cli/schedule-flags.ts';
import { CONFIG_KEYS } from '../../hosts/config/keys.ts';

const read = (name: string): string => readFileSync(fileURLToPath(new URL(`../../docs/deploy/${name}`, import.meta.url)), 'utf8');

/** Section and key → values, in order. Throws for a line that is neither a section, an assignment, a comment nor empty. */
function parseUnit(text: string): Map<string, string[]> {
  const found = new Map<string, string[]>();
  let section = '';
  for (const line of text.split('\n')) {
    if (line === '' || line.startsWith('#')) continue;
    const head = /^\[(\w+)\]$/.exec(line);
    const pair = /^([A-Z]\w+)=(.+)$/.exec(line);
    if (head) section = head[1] ?? '';
    else if (pair && section !== '') found.set(`${section}.${pair[1]}`, [...(found.get(`${section}.${pair[1]}`) ?? []), pair[2] ?? '']);
    else throw new Error(`no line of a unit: ${line}`);
  }
  return found;
}

const INSTRUCTIONS = ['FROM', 'RUN', 'COPY', 'ENV', 'USER', 'WORKDIR', 'VOLUME', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];

/** Instructions of a Dockerfile with their arguments, lines joined. */
function parseDockerfile(text: string): { readonly name: string; readonly rest: string }[] {
  const lines = text
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n/g, ' ')
    .split('\n');
  return lines
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [, name = '', rest = ''] = /^([A-Z]+) +(.+)$/.exec(line) ?? [];
      return { name, rest };
    });
}

/** A command line of odek that exists. */
function expectCommand([program, command, action]: readonly string[]): void {
  expect(program).toMatch(/(^|\/)odek$/);
  expect(Object.keys(COMMANDS)).toContain(command);
  expect([...Object.keys(SCHEDULE_ACTIONS), undefined]).toContain(action);
}

describe.each([
  ['odek-schedule.service', ['schedule', 'daemon']],
  ['odek-telegram.service', ['telegram']],
])('the systemd unit %s', (name, command) => {
  const unit = parseUnit(read(name));
  const one = (key: string): string => {
    expect(unit.get(key), key).toHaveLength(1);
    return unit.get(key)?.[0] ?? '';
  };

  it('starts what it is for, and not again after an error that stays', () => {
    expectCommand(one('Service.ExecStart').split(' '));
    expect(one('Service.ExecStart').split(' ').slice(1)).toEqual(command);
    expect(one('Service.Restart')).toBe('on-failure');
    expect(one('Service.RestartPreventExitStatus')).toBe(String(EXIT.setup));
    expect(one('Install.WantedBy')).toBe('multi-user.target');
  });

  it('gives it the time to end by itself, and lets it write where it works', () => {
    expect(Number(one('Service.TimeoutStopSec'))).toBeGreaterThan(40);
    const writable = one('Service.ReadWritePaths').split(' ');
    const home = /^ODEK_HOME=(.*)$/.exec(one('Service.Environment'))?.[1];
    expect(writable).toContain(home);
    expect(writable).toContain(one('Service.WorkingDirectory'));
  });
});

describe('the Dockerfile', () => {
  const steps = parseDockerfile(read('Dockerfile'));
  const last = (name: string): string => steps.findLast((step) => step.name === name)?.rest ?? '';

  it('has instructions that exist, and begins with a Node that odek runs on', () => {
    expect(steps.filter(({ name }) => !INSTRUCTIONS.includes(name))).toEqual([]);
    expect(steps[0]).toEqual({ name: 'FROM', rest: 'node:24-slim' });
    for (const name of ['VOLUME', 'ENTRYPOINT', 'CMD']) expect(JSON.parse(last(name))).toBeInstanceOf(Array);
    expect(JSON.parse(/CMD (\[.*\])$/.exec(last('HEALTHCHECK'))?.[1] ?? '')).toHaveLength(3);
  });

  it('starts the daemon as a user without rights, with variables that odek knows', () => {
    expect(last('USER')).toBe('node');
    expectCommand([...JSON.parse(last('ENTRYPOINT')).slice(-1), ...JSON.parse(last('CMD'))]);
    const names = last('ENV')
      .trim()
      .split(/\s+/)
      .map((pair) => pair.split('=')[0]);
    const known = [...CONFIG_KEYS.map(({ env }) => env), 'ODEK_HOME'];
    expect(names.filter((name) => !known.includes(name))).toEqual([]);
    expect(names).toHaveLength(2);
    expect(last('HEALTHCHECK')).toContain(/HEALTH_ADDR=(\S+)/.exec(last('ENV'))?.[1]);
  });
});
