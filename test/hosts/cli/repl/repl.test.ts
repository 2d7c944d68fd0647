import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { PassThrough } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parseInput, type ReplCommands } from '../../../../hosts/cli/repl/commands.ts';
import { createPrompt } from '../../../../hosts/cli/repl/prompt.ts';
import { runRepl } from '../../../../hosts/cli/repl/repl.ts';
import { CancelledError } from '../../../../ports/errors.ts';
import { createStage } from '../render/stage.ts';

const FIXTURE = fileURLToPath(new URL('./fixture-repl.ts', import.meta.url));

async function piped(input: string): Promise<{ stdout: string; stderr: string; code: number }> {
  const child = spawn(process.execPath, [FIXTURE], { stdio: ['pipe', 'pipe', 'pipe'] });
  const seen = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    seen.stdout += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    seen.stderr += String(chunk);
  });
  child.stdin.end(input);
  const [code] = await once(child, 'close');
  return { ...seen, code };
}

describe('the repl from a pipe', () => {
  it('runs one turn a line, without a prompt and without escapes, and ends with the input', async () => {
    const { stdout, stderr, code } = await piped('one\r\n\ntwo\u2028same\nthree');
    expect(stdout).toBe('<"one">\n<"two\u2028same">\n<"three">\nbye\n');
    expect(stderr).toBe('');
    expect(code).toBe(0);
  });

  it('joins lines at a backslash and inside a code fence, as at the prompt', async () => {
    const { stdout } = await piped('a\\\nb\n```\nx\n\ny\n```\nlast');
    expect(stdout).toBe('<"a\\nb">\n<"```\\nx\\n\\ny\\n```">\n<"last">\nbye\n');
  });

  it('obeys commands, and goes on after a turn that failed', async () => {
    const { stdout, stderr } = await piped('fail\n/info\n/exit\nnever\n');
    expect(stdout).toBe('bye\n');
    expect(stderr).toBe('error: this turn failed\nsession s-1\n');
  });
});

describe('runRepl', () => {
  function scripted(inputs: readonly string[]) {
    const waiting = [...inputs];
    return { read: async () => waiting.shift(), tell: () => false, close: () => undefined };
  }

  it('aborts the signal of the turn at the first interrupt, kills at the second, and listens only during turns', async () => {
    const stage = createStage();
    const listeners = new Set<() => void>();
    const interrupt = (): void => {
      for (const listener of listeners) listener();
    };
    const log: string[] = [];
    await runRepl({
      prompt: scripted(['a', 'b']),
      io: stage.io,
      onInterrupt: (listener) => {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
      kill: () => log.push('killed'),
      onTurn: async (text, signal) => {
        if (text === 'a') {
          interrupt();
          log.push(`a aborted: ${signal.aborted}`);
          interrupt();
          throw signal.reason;
        }
        log.push(`b aborted: ${signal.aborted}`);
      },
    });
    expect(log).toEqual(['a aborted: true', 'killed', 'b aborted: false']);
    expect(listeners.size).toBe(0);
    expect(stage.stderr()).toBe('');
  });

  it('tells of a turn that says it was cancelled although nobody did', async () => {
    const stage = createStage();
    const onTurn = async (): Promise<void> => {
      throw new CancelledError('the provider\u001b[2J gave up');
    };
    await runRepl({ prompt: scripted(['a']), io: stage.io, onTurn, onInterrupt: () => () => undefined });
    expect(stage.stderr()).toBe('error: the provider\\x1b[2J gave up (cancelled)\n');
  });

  it('tells of a command that failed and stays', async () => {
    const stage = createStage();
    const commands: ReplCommands = {
      broken: {
        summary: 'fails',
        run: () => {
          throw new Error('no');
        },
      },
    };
    const turns: string[] = [];
    await runRepl({
      prompt: scripted(['/broken', 'x']),
      io: stage.io,
      commands,
      onTurn: async (text) => void turns.push(text),
      onInterrupt: () => () => undefined,
    });
    expect(stage.stderr()).toBe('error: no\n');
    expect(turns).toEqual(['x']);
  });
});

describe('parseInput', () => {
  const commands: ReplCommands = { help: { summary: '', run: () => 'stay' } };

  it('tells commands from texts that begin with a slash', () => {
    expect(parseInput('/help me', commands)).toMatchObject({ kind: 'command', rest: 'me' });
    expect(parseInput('/usr/bin is what?', commands)).toEqual({ kind: 'turn', text: '/usr/bin is what?' });
    expect(parseInput('//help', commands)).toEqual({ kind: 'turn', text: '/help' });
    expect(parseInput(' \n ', commands)).toEqual({ kind: 'empty' });
    expect(parseInput('/constructor', commands)).toMatchObject({ kind: 'unknown' });
  });
});

describe('a prompt on a pipe', () => {
  it('refuses a line without an end instead of holding it', async () => {
    const stage = createStage({ stdoutTty: false });
    const stdin = stage.io.stdin as PassThrough;
    const prompt = await createPrompt({ io: stage.io, historyFile: undefined, clock: stage.clock, redact: (text) => text });
    const reading = prompt.read();
    for (let count = 0; count < 20; count += 1) stdin.write('x'.repeat(65_536));
    await expect(reading).rejects.toMatchObject({ code: 'input_too_long', limit: 1_048_576 });
  });

  it('leaves when its signal fires, and at once when it has fired', async () => {
    const stage = createStage({ stdoutTty: false });
    const prompt = await createPrompt({ io: stage.io, historyFile: undefined, clock: stage.clock, redact: (text) => text });
    const cancel = new AbortController();
    const reading = prompt.read(cancel.signal);
    cancel.abort();
    expect(await reading).toBeUndefined();
    expect(await prompt.read(cancel.signal)).toBeUndefined();
    prompt.close();
  });
});
