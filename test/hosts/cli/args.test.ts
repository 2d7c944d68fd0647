import { describe, expect, it } from 'vitest';
import { parseArgs } from '../../../hosts/cli/args.ts';
import { COMMANDS } from '../../../hosts/cli/commands.ts';
import { editDistance, nearest } from '../../../hosts/cli/nearest.ts';

const run = (...tokens: string[]) => parseArgs('run', COMMANDS.run, tokens).args;
const refusal = (command: keyof typeof COMMANDS, ...tokens: string[]) => {
  try {
    parseArgs(command, COMMANDS[command], tokens);
  } catch (error) {
    return error as Error & { code: string };
  }
  throw new Error('nothing was refused');
};

describe('parseArgs', () => {
  it('takes a value after a space and after an equals sign', () => {
    expect(run('--model', 'a', '--base-url=http://h/v1?', 'task').flags).toEqual({ model: 'a', 'base-url': 'http://h/v1?' });
    expect(run('--system=', 'task').flags).toEqual({ system: '' });
    expect(run('--system=a=b\nc', 'task').flags).toEqual({ system: 'a=b\nc' });
  });

  it('reads numbers, switches, their negation and repeated flags', () => {
    expect(run('--max-iter', '5', '--temperature', '-1', '--no-stream', '--tool', 'a', '--json', '--tool=b', 'x').flags).toEqual({
      'max-iter': 5,
      temperature: -1,
      stream: false,
      tool: ['a', 'b'],
      json: true,
    });
    expect(run('--session=false', '--stream=yes').flags).toEqual({ session: false, stream: true });
    expect(run('--max-cost-usd', '.5').flags).toEqual({ 'max-cost-usd': 0.5 });
  });

  it('tells --no-color, --no-tool and --no-agents from a negation', () => {
    expect(run('--no-color', '--no-agents', '--no-tool', 'shell').flags).toEqual({
      'no-color': true,
      'no-agents': true,
      'no-tool': ['shell'],
    });
  });

  it('lets the last of two values win', () => {
    expect(run('--model', 'a', '--model', 'b', '--stream', '--no-stream').flags).toEqual({ model: 'b', stream: false });
  });

  it('knows flags after the task too', () => {
    expect(run('fix', 'it', '--session', '--no-color', 'now', '--model', 'm')).toEqual({
      command: 'run',
      flags: { session: true, 'no-color': true, model: 'm' },
      positionals: ['fix', 'it', 'now'],
    });
  });

  it('takes everything after -- for text', () => {
    expect(run('--json', '--', '--session', '--nope', '--').positionals).toEqual(['--session', '--nope', '--']);
    expect(parseArgs('run', COMMANDS.run, ['--', '--help']).help).toBe(false);
  });

  it('takes a text with spaces, a lone dash and a negative number for text', () => {
    expect(run('--fix the bug', '- a list', '-', '-5', '-1.5').positionals).toEqual(['--fix the bug', '- a list', '-', '-5', '-1.5']);
  });

  it('takes the other spellings of a choice', () => {
    expect(run('--thinking', 'max', 'x').flags).toEqual({ thinking: 'high' });
  });

  it('reads short flags', () => {
    expect(parseArgs('init', COMMANDS.init, ['-g', '-f']).args.flags).toEqual({ global: true, force: true });
  });

  it('asks for help wherever --help or -h stands, also beside what is wrong', () => {
    expect(parseArgs('run', COMMANDS.run, ['--nope', 'x', '--help']).help).toBe(true);
    expect(parseArgs('run', COMMANDS.run, ['-h']).help).toBe(true);
  });

  it.each([
    ['--modle', '--model'],
    ['--no-strem', '--no-stream'],
    ['--max-itter=3', '--max-iter'],
    ['--jsn', '--json'],
  ])('refuses %s and names %s', (given, meant) => {
    const error = refusal('run', 'task', given, 'x');
    expect(error).toMatchObject({ name: 'ConfigError', code: 'unknown_flag' });
    expect(error.message).toContain(`did you mean ${meant}?`);
  });

  it('names nothing when nothing is near, and says how to pass dashes as text', () => {
    const error = refusal('run', '--qqqqqqqq', 'x');
    expect(error.message).toContain('unknown flag --qqqqqqqq');
    expect(error.message).not.toContain('did you mean');
    expect(error.message).toContain('put -- before the text');
  });

  it('refuses a flag of another command, and one that objects have by nature', () => {
    expect(refusal('repl', '--tool', 'shell').code).toBe('unknown_flag');
    expect(refusal('run', '--constructor').code).toBe('unknown_flag');
    expect(refusal('run', '--no-constructor').code).toBe('unknown_flag');
    expect(refusal('run', '-x').code).toBe('unknown_flag');
  });

  it('refuses a value that is missing, and says how to give one that looks like a flag', () => {
    expect(refusal('run', '--model')).toMatchObject({ code: 'missing_value', message: '--model needs a value: --model <id>' });
    expect(refusal('run', '--system', '--json').message).toContain('--system=--json');
    expect(refusal('run', '--model', '--', 'x').code).toBe('missing_value');
  });

  it.each([
    ['--max-iter', '0', 'a whole number from 1 to 100000'],
    ['--max-iter', '1.5', 'a whole number'],
    ['--max-iter', 'ten', 'a whole number'],
    ['--max-iter', '1e3', 'a whole number'],
    ['--max-iter', '', 'a whole number'],
    ['--temperature', '2.5', 'a number from -1 to 2'],
    ['--max-cost-usd', 'Infinity', 'a number from 0'],
    ['--thinking', 'medum', 'did you mean medium?'],
  ])('refuses %s %j and names the limit', (flag, value, limit) => {
    const error = refusal('run', `${flag}=${value}`, 'x');
    expect(error).toMatchObject({ code: 'invalid_value', value });
    expect(error.message).toContain(limit);
  });

  it('refuses a value for a switch that is no switch value, or for a negation', () => {
    expect(refusal('run', '--json=maybe').code).toBe('invalid_value');
    expect(refusal('run', '--no-stream=true').code).toBe('invalid_value');
  });

  it('refuses arguments that are missing, too many, or not among the choices', () => {
    expect(refusal('completion')).toMatchObject({ code: 'missing_argument', message: expect.stringContaining('usage: odek completion') });
    expect(refusal('doctor', 'x').code).toBe('unexpected_argument');
    expect(refusal('session', 'lits').message).toContain('did you mean list?');
  });
});

describe('nearest', () => {
  it('counts edits', () => {
    expect([editDistance('', 'abc'), editDistance('kitten', 'sitting'), editDistance('same', 'same')]).toEqual([3, 3, 0]);
  });

  it('takes the nearest, the earlier of two, and none that is far', () => {
    expect(nearest('modle', ['mode', 'model'])).toBe('mode');
    expect(nearest('MODEL', ['model'])).toBe('model');
    expect(nearest('x', ['abc', 'def'])).toBeUndefined();
    expect(nearest('ab', ['cd'])).toBeUndefined();
  });

  it('stays quick on a text of a megabyte', () => {
    expect(nearest('a'.repeat(1_000_000), ['model'])).toBeUndefined();
    expect(editDistance('a'.repeat(1_000_000), 'b'.repeat(1_000_000))).toBe(64);
  });
});
