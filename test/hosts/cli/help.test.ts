import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../hosts/cli/commands.ts';
import { odek } from './terminal.ts';

describe('help', () => {
  it('lists every command with its summary', async () => {
    const { out } = await odek(['help'], { columns: 120 });
    for (const [name, spec] of Object.entries(COMMANDS)) expect(out).toMatch(new RegExp(`^  ${name} +${spec.summary.slice(0, 20)}`, 'm'));
  });

  it.each(Object.keys(COMMANDS))('explains %s the same way for help, --help and -h, with every flag', async (name) => {
    const asked = await odek(['help', name]);
    expect(asked.code).toBe(0);
    expect(await odek([name, '--help'])).toEqual(asked);
    expect(await odek([name, 'x', '-h'])).toEqual(asked);
    for (const flag of COMMANDS[name as keyof typeof COMMANDS].flags) expect(asked.out).toContain(`${flag.name}`);
    expect(asked.out).toContain('--help');
  });

  it('shows negatable switches, short names, placeholders, ranges and choices', async () => {
    const run = (await odek(['help', 'run'], { columns: 200 })).out;
    expect(run).toContain('--[no-]stream');
    expect(run).toContain('--model <id>');
    expect(run).toContain('a whole number from 1 to 100000');
    expect(run).toContain('disabled, low, medium, high');
    expect((await odek(['help', 'init'])).out).toContain('-f, --force');
  });

  it.each([40, 80, 120])('keeps within %i columns where words allow it', async (columns) => {
    const { out } = await odek(['help', 'run'], { columns });
    const widest = Math.max(...out.split('\n').map((line) => line.length));
    expect(widest).toBeLessThanOrEqual(Math.max(columns, 64));
  });

  it('refuses an unknown command and names the nearest', async () => {
    const { code, err } = await odek(['help', 'sesion']);
    expect(code).toBe(3);
    expect(err).toContain('did you mean odek session?');
  });
});
