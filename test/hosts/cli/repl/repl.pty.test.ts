import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type PtyStep, runOnPty } from '../render/pty.ts';

const FIXTURE = fileURLToPath(new URL('./fixture-repl.ts', import.meta.url));
const CTRL_C = '\u0003';
const CTRL_D = '\u0004';
const UP = '\u001b[A';
const LEFT = '\u001b[D';
const ALT_ENTER = '\u001b\r';
const PROMPT = { wait: '› ' };
const LEAVE: readonly PtyStep[] = [PROMPT, { send: CTRL_D }];

let folder: string;
let historyFile: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-repl-'));
  historyFile = join(folder, 'state', 'repl_history');
});
afterEach(() => rm(folder, { recursive: true, force: true }));

function repl(steps: readonly PtyStep[], columns = 60) {
  return runOnPty([FIXTURE, historyFile], steps, { columns });
}

describe('the repl on a pseudo-terminal', () => {
  it('runs a turn an input and leaves at Ctrl-D', async () => {
    const { screen, exit } = await repl([PROMPT, { send: 'hello\r' }, { wait: '>' }, ...LEAVE]);
    expect(exit).toBe(0);
    expect(screen.foreign()).toEqual([]);
    expect(screen.text()).toBe('› hello\n<"hello">\n›\nbye');
  });

  it('edits in the middle of wide text and over the edge of the screen', async () => {
    const long = '漢字 and words that go on past the edge of this screen';
    const { screen } = await repl(
      [PROMPT, { send: long }, { send: LEFT.repeat(6) }, { send: 'X' }, { pause: 0.2 }, { send: '\r' }, { wait: '>' }, ...LEAVE],
      30,
    );
    expect(screen.text()).toContain(
      '› 漢字 and words that go on p\nast the edge of this Xscreen\n<"漢字 and words that go on pa\nst the edge of this Xscreen">',
    );
  });

  it('goes on after a backslash, at Alt-Enter and inside an open code fence', async () => {
    const steps = [PROMPT, { send: 'a\\\rb' }, { pause: 0.1 }, { send: `${ALT_ENTER}\`\`\`\rcode\r\`\`\`\r` }, { wait: '>' }, ...LEAVE];
    const { screen } = await repl(steps);
    expect(screen.text()).toContain('<"a\\nb\\n```\\ncode\\n```">');
    expect(screen.text()).toContain('› a\n… b\n… ```\n… code\n… ```\n');
  });

  it('takes a pasted text with its newlines as one input, line separators included', async () => {
    const pasted = '\u001b[200~one\r\ntwo\rthree\u2028same line\u001b[201~';
    const { screen, exit } = await repl([PROMPT, { send: pasted }, { pause: 0.2 }, { send: '!\r' }, { wait: '>' }, ...LEAVE]);
    expect(exit).toBe(0);
    expect(screen.text()).toContain('<"one\\ntwo\\nthree\u2028same line!">');
  });

  it('keeps inputs that came in one piece for the turns after', async () => {
    const { screen } = await repl([PROMPT, { send: 'one\rtwo\r' }, { wait: '"two">' }, ...LEAVE]);
    expect(screen.text()).toContain('› one\n<"one">\n› two\n<"two">\n');
  });

  it('clears the line at Ctrl-C and leaves at the second one on an empty line', async () => {
    const { screen, exit } = await repl([
      PROMPT,
      { send: 'half' },
      { wait: 'half' },
      { send: CTRL_C },
      PROMPT,
      { send: CTRL_C },
      { wait: 'leaves)' },
      { send: CTRL_C },
    ]);
    expect(exit).toBe(0);
    expect(screen.text()).toBe('› half^C\n› (Ctrl-C again or Ctrl-D leaves)\n›\nbye');
  });

  it('stops the turn at Ctrl-C and not the program', async () => {
    const steps = [
      PROMPT,
      { send: 'slow\r' },
      { wait: 'working' },
      { pause: 0.1 },
      { send: CTRL_C },
      { wait: 'stopped' },
      PROMPT,
      { send: 'next\r' },
      { wait: '"next">' },
      ...LEAVE,
    ];
    const { screen, exit } = await repl(steps);
    expect(exit).toBe(0);
    expect(screen.text()).toContain('stopped\n› next\n<"next">\n');
    expect(screen.text()).not.toContain('error');
  });

  it('ends the program with 130 at the second Ctrl-C in a turn that does not stop', async () => {
    const steps = [
      PROMPT,
      { send: 'stubborn\r' },
      { wait: 'working' },
      { pause: 0.1 },
      { send: CTRL_C },
      { wait: 'told to stop' },
      { send: CTRL_C },
    ];
    const { exit } = await repl(steps);
    expect(exit).toBe(130);
  });

  it('goes on after a turn that failed', async () => {
    const { screen } = await repl([PROMPT, { send: 'fail\r' }, { wait: 'failed' }, PROMPT, { send: 'ok\r' }, { wait: '"ok">' }, ...LEAVE]);
    expect(screen.text()).toContain('error: this turn failed\n› ok\n<"ok">');
  });

  it('remembers inputs across starts, several lines as one entry, private and without secrets', async () => {
    await repl([PROMPT, { send: `first\\\rline\r` }, { wait: '">' }, PROMPT, { send: 'key sk-secret\r' }, { wait: '">' }, ...LEAVE]);
    expect((await stat(historyFile)).mode & 0o777).toBe(0o600);
    expect(await readFile(historyFile, 'utf8')).toBe('first\\nline\nkey [masked]\n');
    const { screen } = await repl([
      PROMPT,
      { send: 'draft' },
      { send: UP },
      { wait: '[masked]' },
      { send: UP },
      { wait: 'line' },
      { send: '\r' },
      { wait: '">' },
      ...LEAVE,
    ]);
    expect(screen.text()).toContain('› first\n… line\n<"first\\nline">');
  });

  it('knows its commands and those that were added, and names the nearest to a wrong one', async () => {
    const steps = [PROMPT, { send: '/info\r/hlep\r/jobs\r//not a command\r/help\r' }, { wait: 'new line' }, PROMPT, { send: '/quit\r' }];
    const { screen, exit } = await repl(steps, 90);
    expect(exit).toBe(0);
    expect(screen.text()).toContain('session s-1\n');
    expect(screen.text()).toContain('unknown command /hlep; did you mean /help? (/help lists them)');
    expect(screen.text()).toContain('no jobs\n');
    expect(screen.text()).toContain('<"/not a command">');
    expect(screen.text()).toContain('/jobs  list jobs');
  });

  it('redraws the input when the window changes its width', async () => {
    const text = 'a line that is wrapped when the window is small';
    const steps = [
      PROMPT,
      { send: text },
      { wait: 'small' },
      { resize: [24, 20] as const },
      { pause: 0.2 },
      { resize: [60, 20] as const },
      { pause: 0.2 },
      { send: '\r' },
      { wait: '">' },
      ...LEAVE,
    ];
    const { screen } = await repl(steps);
    expect(screen.text()).toBe(`› ${text}\n<"${text}">\n›\nbye`);
  });
});
