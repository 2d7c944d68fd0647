import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { spellings } from '../../../hosts/cli/args.ts';
import type { CommandSpec } from '../../../hosts/cli/command.ts';
import { COMMANDS } from '../../../hosts/cli/commands.ts';
import { completionScript } from '../../../hosts/cli/completion.ts';
import { odek } from './terminal.ts';

const table: [string, CommandSpec][] = Object.entries(COMMANDS);
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-completion-'));
  await writeFile(join(folder, 'odek.bash'), completionScript('bash', COMMANDS));
  await mkdir(join(folder, 'work'));
  await writeFile(join(folder, 'work', 'one two.jsonl'), '');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** What a real bash offers after these words; the last one is being typed. */
async function offers(...words: string[]): Promise<string[]> {
  const script = `source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _odek; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr } = await promisify(execFile)('bash', ['-u', '-c', script, 'bash', join(folder, 'odek.bash'), 'odek', ...words], {
    cwd: join(folder, 'work'),
    // A bash of level 1 whose input is a socket takes itself for a remote login and reads the machine's own files.
    env: { ...process.env, SHLVL: '2' },
  });
  expect(stderr).toBe('');
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion for bash', () => {
  it('offers every command', async () => {
    expect((await offers('')).sort()).toEqual([...table.map(([name]) => name), '--help', '--version'].sort());
    expect(await offers('ru')).toEqual(['run']);
  });

  it.each(table)('offers every flag of %s', async (name, spec) => {
    expect((await offers(name, '-')).sort()).toEqual([...spellings(spec.flags), '--help', '-h'].sort());
  });

  it('offers the values of a choice, after a space and after an equals sign', async () => {
    expect(await offers('run', '--thinking', '')).toEqual(['disabled', 'low', 'medium', 'high']);
    expect(await offers('run', '--thinking', '=', 'me')).toEqual(['medium']);
    expect(await offers('run', '--thinking', '=')).toHaveLength(4);
  });

  it('offers files where a file is meant, also with a space in the name', async () => {
    expect(await offers('run', '--replay', 'one')).toEqual(['one two.jsonl']);
  });

  it('offers nothing for a value that can be anything', async () => {
    expect(await offers('run', '--model', '')).toEqual([]);
  });

  it('offers the words that a command takes', async () => {
    expect(await offers('session', 'ex')).toEqual(['export']);
    expect(await offers('completion', '')).toEqual(['bash', 'zsh', 'fish']);
    expect(await offers('help', 'doc')).toEqual(['doctor']);
    expect(await offers('config', 'limits.max_t')).toEqual(['limits.max_tool_calls']);
  });
});

describe('completion for other shells', () => {
  it.each(['zsh', 'fish'] as const)('names every command and flag for %s', async (shell) => {
    const { code, out } = await odek(['completion', shell]);
    expect(code).toBe(0);
    for (const [name, spec] of table) {
      expect(out).toContain(name);
      for (const flag of spec.flags)
        expect(out).toMatch(shell === 'zsh' ? new RegExp(`--${flag.name}[=[]`) : new RegExp(`-l ${flag.name}\\b`));
    }
  });

  it('is balanced in its quotes, so that no summary ends one early', async () => {
    for (const shell of ['bash', 'zsh', 'fish'] as const) {
      const lines = completionScript(shell, COMMANDS)
        .split('\n')
        .filter((line) => !line.startsWith('#') && !line.includes('#'));
      for (const line of lines) expect([line, (line.replace(/\\'/g, '').match(/'/g) ?? []).length % 2]).toEqual([line, 0]);
    }
  });

  it('refuses a shell that it does not know', async () => {
    expect((await odek(['completion', 'bahs'])).err).toContain('did you mean bash?');
  });
});
