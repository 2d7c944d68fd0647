import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { planSpawn } from '../../../adapters/mcp/windows.ts';

const FILES = new Set(['c:\\program files\\nodejs\\npx.cmd', 'c:\\tools\\server.exe', 'c:\\tools\\old.bat']);
const ENVIRONMENT = {
  Path: 'C:\\Program Files\\nodejs\\;C:\\Tools',
  PATHEXT: '.COM;.EXE;.BAT;.CMD',
  ComSpec: 'C:\\Windows\\System32\\cmd.exe',
};

function plan(command: string, args: readonly string[] = [], environment: Record<string, string> = ENVIRONMENT, platform = 'win32') {
  return planSpawn({ server: 'scripted', command, args, platform, environment, exists: (path) => FILES.has(path.toLowerCase()) });
}

/** The line that the command interpreter gets, without what surrounds it. */
function lineOf(command: string, args: readonly string[]): string {
  const { args: given } = plan(command, args);
  return (given[4] ?? '').slice(1, -1);
}

describe('a command on Windows', () => {
  it('that is a shim is run by the command interpreter, which says so', () => {
    const { file, args, verbatim } = plan('npx', ['-y', 'some-server']);
    expect(file).toBe('C:\\Windows\\System32\\cmd.exe');
    expect(args).toEqual(['/e:ON', '/v:OFF', '/d', '/c', '""C:\\Program Files\\nodejs\\npx.cmd" -y some-server"']);
    expect(verbatim).toBe(true);
  });

  it('is found with its ending, by its path, and without PATHEXT', () => {
    expect(lineOf('npx.cmd', [])).toBe('"C:\\Program Files\\nodejs\\npx.cmd"');
    expect(lineOf('C:\\Tools\\old.bat', [])).toBe('"C:\\Tools\\old.bat"');
    expect(plan('npx', [], { PATH: 'C:\\Program Files\\nodejs' }).args[4]).toBe('""C:\\Program Files\\nodejs\\npx.cmd""');
  });

  it('that is a program is started as it is', () => {
    expect(plan('server', ['a b', '"'])).toEqual({ file: 'C:\\Tools\\server.exe', args: ['a b', '"'], verbatim: false });
  });

  it('that is nowhere stays what it is, so that the system says so', () => {
    expect(plan('absent', ['x'])).toEqual({ file: 'absent', args: ['x'], verbatim: false });
  });

  it('passes characters with a meaning on as they are', () => {
    expect(lineOf('npx', ['a b'])).toMatch(/ "a b"$/);
    expect(lineOf('npx', ['a&calc'])).toMatch(/ "a&calc"$/);
    expect(lineOf('npx', ['a^b'])).toMatch(/ "a\^b"$/);
    expect(lineOf('npx', ['say "hi"'])).toMatch(/ "say ""hi"""$/);
    expect(lineOf('npx', ['C:\\dir\\'])).toMatch(/ "C:\\dir\\\\"$/);
    expect(lineOf('npx', ['a\\"b'])).toMatch(/ "a\\\\""b"$/);
    expect(lineOf('npx', ['%PATH%'])).toMatch(/ "%%cd:~,%PATH%%cd:~,%"$/);
    expect(lineOf('npx', [''])).toMatch(/ ""$/);
  });

  it('never leaves the quotes, whatever an argument holds', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('"', '\\', '&', '|', '%', '^', ' ', 'a', '>', '!') }), (argument) => {
        const quoted = lineOf('npx', [argument]).slice('"C:\\Program Files\\nodejs\\npx.cmd" '.length);
        let inside = false;
        for (const character of quoted) {
          if (character === '"') inside = !inside;
          else if (!inside) expect(character).not.toMatch(/[&|<>^%! ]/);
        }
        expect(inside).toBe(false);
      }),
    );
  });

  it.each(['a\nb', 'a\rb', 'a\0b'])('is refused with a line break or a NUL: %j', (text) => {
    expect(() => plan('npx', [text])).toThrow(expect.objectContaining({ code: 'mcp_spawn_failed', server: 'scripted' }));
    expect(() => plan(text)).toThrow(expect.objectContaining({ code: 'mcp_spawn_failed' }));
  });
});

describe('a command elsewhere', () => {
  it('is started as it is, and may hold line breaks but no NUL', () => {
    expect(plan('npx', ['a\nb'], {}, 'linux')).toEqual({ file: 'npx', args: ['a\nb'], verbatim: false });
    expect(() => plan('npx', ['a\0b'], {}, 'linux')).toThrow(/NUL/);
  });
});
