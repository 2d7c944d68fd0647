import { beforeEach, describe, expect, it } from 'vitest';
import { createShellGrammar } from '../../../adapters/shell-grammar/unbash.ts';
import { judgeCall } from '../../../core/approvals/judge.ts';
import type { DangerPolicy } from '../../../ports/approval.ts';
import type { ToolEffects } from '../../../ports/plugin.ts';
import { sampleTool } from '../../contracts/plugin.broken.ts';
import { createMemoryFileSystem, type MemoryFileSystem } from '../../fakes/file-system.ts';

const grammar = createShellGrammar();
let fs: MemoryFileSystem;

beforeEach(() => {
  fs = createMemoryFileSystem();
  fs.put('notes.md', 'text');
  fs.put('.env', 'KEY=value');
  fs.put('pipe', '', { kind: 'fifo' });
  fs.put('/etc/passwd', 'root');
  fs.put('/home/state/config.json', '{}');
  fs.link('out', '/etc');
  fs.link('alias', 'notes.md');
});

const base: DangerPolicy = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'read_only' };
const yolo = { action: 'allow' } as const;

function judge(
  effects: ToolEffects | (() => ToolEffects),
  policy: Partial<DangerPolicy> = {},
  input: unknown = { text: 'x' },
  more: { readonly foreign?: boolean; readonly reachable?: readonly string[] } = {},
) {
  const tool = sampleTool({ effects: typeof effects === 'function' ? effects : () => effects });
  return judgeCall({ tool, input, fs, policy: { ...base, ...policy }, shell: { grammar, home: '/home/me' }, ...more });
}

describe('a read', () => {
  it.each(['notes.md', './notes.md', 'missing.md', '.', 'sub/../notes.md', '/project/notes.md'])(
    'of %s inside the root is safe',
    async (path) => {
      expect(await judge({ reads: [path] })).toMatchObject({ class: 'safe', action: 'allow', refused: false });
    },
  );

  it.each(['/etc/passwd', '../other', 'out/passwd', '.env', 'server.pem', 'out'])('of %s prompts as system_write', async (path) => {
    expect(await judge({ reads: [path] })).toMatchObject({ class: 'system_write', action: 'prompt', refused: false });
  });

  it.each(['/home/state/config.json', '/home/state', 'pipe', 'nul\0byte'])('of %j is refused, whatever the policy', async (path) => {
    const judgement = await judge({ reads: [path] }, { ...yolo, classes: { system_write: 'allow' } });
    expect(judgement).toMatchObject({ action: 'deny', refused: true, explicit: false });
  });
});

describe('a write', () => {
  it.each(['notes.md', 'new/deep/file'])('of %s inside the root is local_write', async (path) => {
    expect(await judge({ writes: [path] })).toMatchObject({ class: 'local_write', action: 'allow', explicit: false });
  });

  it.each([
    ['/etc/passwd', 'outside the working directory'],
    ['../x', 'outside the working directory'],
    ['out/passwd', 'out/passwd (/etc/passwd) is outside'],
    ['alias', 'alias is a link to /project/notes.md'],
    ['pipe', 'is a fifo'],
    ['/home/state/config.json', "odek's own state"],
  ])('of %s is refused, whatever the policy, and says why', async (path, why) => {
    const judgement = await judge(
      { writes: [path] },
      { ...yolo, classes: { system_write: 'allow', local_write: 'allow' }, nonInteractive: 'allow' },
    );
    expect(judgement).toMatchObject({ action: 'deny', refused: true });
    expect(judgement.reason).toContain(why);
  });
});

describe('a command', () => {
  it.each<[string, string, string]>([
    ['ls', 'safe', 'allow'],
    ['cat notes.md | wc -l', 'safe', 'allow'],
    ['touch new', 'local_write', 'allow'],
    ['cat .env', 'system_write', 'prompt'],
    ['cat alias', 'safe', 'allow'],
    ['cat out/passwd', 'system_write', 'prompt'],
    ['echo x > out/passwd', 'system_write', 'prompt'],
    ['cat out/missing', 'system_write', 'prompt'],
    ['grep -r KEY .', 'system_write', 'prompt'],
    ['rg KEY .', 'safe', 'allow'],
    ['cat /home/state/config.json', 'system_write', 'prompt'],
    ['frobnicate', 'unknown', 'deny'],
    ['rm -rf build; frobnicate', 'unknown', 'deny'],
    ['rm -rf .', 'destructive', 'deny'],
  ])('%s is %s, so: %s', async (command, cls, action) => {
    expect(await judge({ command })).toMatchObject({ class: cls, action, summary: { class: cls } });
  });

  it('is unknown without a grammar to read it, or with one that fails', async () => {
    const tool = sampleTool({ effects: () => ({ command: 'ls' }) });
    expect(await judgeCall({ tool, input: {}, fs, policy: base })).toMatchObject({ classes: ['unknown'], action: 'deny' });
    const failing = { load: () => Promise.reject(new Error('no parser')) };
    const judgement = await judgeCall({ tool, input: {}, fs, policy: base, shell: { grammar: failing } });
    expect(judgement).toMatchObject({ classes: ['unknown'], reason: 'the command cannot be judged: no parser' });
  });

  it('is unknown when it is too long, also for the allowlist', async () => {
    const command = `echo ${'x'.repeat(64 * 1024)}`;
    expect(await judge({ command }, { allowlist: [command] })).toMatchObject({ classes: ['unknown'], action: 'deny' });
  });

  it('is code execution and prompts', async () => {
    expect(await judge({ command: 'FOO=1 /usr/bin/make -j2' })).toMatchObject({
      classes: ['code_execution'],
      action: 'prompt',
      resource: 'FOO=1 /usr/bin/make -j2',
      summary: { argv0: 'make', class: 'code_execution' },
    });
  });

  it('of the allowlist is allowed, before the denylist and the class', async () => {
    const policy = { allowlist: ['git push'], denylist: ['git'], classes: { code_execution: 'deny' } } as const;
    expect(await judge({ command: ' git push ' }, policy)).toMatchObject({ action: 'allow', explicit: true });
    expect(await judge({ command: 'git push -f' }, policy)).toMatchObject({ action: 'deny' });
  });

  it('of the denylist is denied, whatever the class and the global action', async () => {
    const judgement = await judge({ command: 'cd x; git push' }, { denylist: ['git push'], classes: { code_execution: 'allow' }, ...yolo });
    expect(judgement).toMatchObject({ action: 'deny', explicit: false, reason: 'dangerous.denylist has "git push"' });
  });

  it('that is blocked stays blocked', async () => {
    const judgement = await judge(
      { command: 'rm -rf /' },
      { ...yolo, allowlist: ['rm -rf /'], classes: { blocked: 'allow', code_execution: 'allow' } },
    );
    expect(judgement).toMatchObject({ class: 'blocked', action: 'deny', explicit: false });
  });

  it('of the allowlist does not carry a read outside the root along', async () => {
    expect(await judge({ command: 'ls', reads: ['/etc/passwd'] }, { allowlist: ['ls'] })).toMatchObject({
      action: 'prompt',
      class: 'system_write',
    });
  });
});

describe('other effects', () => {
  it('reach hosts as network_egress, which is allowed', async () => {
    expect(await judge({ hosts: ['example.org'] })).toMatchObject({
      class: 'network_egress',
      action: 'allow',
      explicit: false,
      summary: { host: 'example.org' },
    });
  });

  it('change another host as network_upload, which prompts, also when the host is not named', async () => {
    const judgement = await judge({ hosts: ['example.org'], uploads: true });
    expect(judgement).toMatchObject({ classes: ['network_upload'], action: 'prompt', resource: 'example.org' });
    expect(judgement.reason).toBe('it may change something at example.org');
    expect(await judge({ uploads: true })).toMatchObject({ class: 'network_upload', action: 'prompt' });
    expect(await judge({ hosts: ['example.org'], uploads: 'no' as never })).toMatchObject({ class: 'unknown', action: 'deny' });
  });

  it('that are empty are safe', async () => {
    expect(await judge({})).toMatchObject({ classes: ['safe'], action: 'allow' });
  });

  it('together carry every class; the strictest decides', async () => {
    const judgement = await judge({ reads: ['notes.md', '/etc/passwd'], writes: ['notes.md'] });
    expect(judgement).toMatchObject({ classes: ['safe', 'local_write', 'system_write'], class: 'system_write', action: 'prompt' });
    expect(judgement.resource).toBe('notes.md, /etc/passwd');
    expect(judgement.summary.path).toEqual(['notes.md', '/etc/passwd']);
  });

  it.each<[string, () => unknown]>([
    ['throw', () => JSON.parse('no')],
    ['are not an object', () => 'reads'],
    ['name paths that are no text', () => ({ reads: [1] })],
    ['name too many paths', () => ({ reads: Array.from({ length: 300 }, () => 'a') })],
  ])('that %s make the call unknown, which is denied', async (_, effects) => {
    expect(await judge(effects as () => ToolEffects)).toMatchObject({
      classes: ['unknown'],
      action: 'deny',
      resource: 'echo {"text":"x"}',
    });
  });

  it('that a tool does not declare make the call unknown', async () => {
    const { effects: _, ...tool } = sampleTool();
    expect(await judgeCall({ tool, input: {}, fs, policy: base })).toMatchObject({ class: 'unknown', action: 'deny' });
  });
});

describe("the operator's words", () => {
  it('make an allowed class explicit', async () => {
    expect((await judge({ writes: ['a'] }, { classes: { local_write: 'allow' } })).explicit).toBe(true);
    expect((await judge({ writes: ['a'] }, yolo)).explicit).toBe(true);
    expect((await judge({ reads: ['notes.md'], writes: ['a'] }, { classes: { local_write: 'allow' } })).explicit).toBe(true);
  });

  it('lock everything down with action deny', async () => {
    expect((await judge({ reads: ['notes.md'] }, { action: 'deny' })).action).toBe('deny');
  });
});

describe('a call that touches nothing outside the run', () => {
  it.each(['read_only', 'deny', 'allow'] as const)(
    'is never asked about, also where the operator wants to be asked (%s)',
    async (nonInteractive) => {
      const judgement = await judge({}, { action: 'prompt', nonInteractive });
      expect(judgement).toMatchObject({ classes: ['safe'], action: 'allow', explicit: true });
      expect(await judge({ reads: [] }, { classes: { safe: 'prompt' }, nonInteractive })).toMatchObject({ action: 'allow' });
    },
  );

  it('is denied where everything is, and by a word about its class', async () => {
    expect(await judge({}, { action: 'deny' })).toMatchObject({ class: 'safe', action: 'deny' });
    expect(await judge({}, { classes: { safe: 'deny' } })).toMatchObject({ action: 'deny' });
  });

  it('is not what reads something, or does not say', async () => {
    expect(await judge({ reads: ['notes.md'] }, { action: 'prompt' })).toMatchObject({ class: 'safe', action: 'prompt' });
    expect(await judge({ command: 'ls' }, { action: 'prompt' })).toMatchObject({ action: 'prompt' });
  });
});

describe('a host', () => {
  it.each(['example.com', 'example.com:8443', '8.8.8.8', '[2606:4700::1111]:443'])('%s is reached as egress', async (host) => {
    expect(await judge({ hosts: [host] })).toMatchObject({ classes: ['network_egress'], action: 'allow' });
  });

  it.each([
    '127.0.0.1',
    '127.0.0.1:8080',
    '[::1]',
    'localhost',
    'localhost.',
    'router',
    '169.254.169.254',
    'metadata.google.internal',
    '0x7f.1',
  ])('%s is this machine or in its network: system_write', async (host) => {
    expect(await judge({ hosts: [host] })).toMatchObject({
      classes: ['network_egress', 'system_write'],
      class: 'system_write',
      action: 'prompt',
    });
    expect(await judge({ hosts: [host], uploads: true })).toMatchObject({ classes: ['network_upload', 'system_write'] });
  });

  it('that the operator admitted is egress at that port, and at no other', async () => {
    const reachable = ['127.0.0.1:8080', 'router:443'];
    const ask = (host: string) => judge({ hosts: [host] }, {}, {}, { reachable });
    expect((await ask('127.0.0.1:8080')).classes).toEqual(['network_egress']);
    expect((await ask('router')).classes).toEqual(['network_egress']);
    expect((await ask('127.0.0.1')).class).toBe('system_write');
    expect((await ask('127.0.0.1:8081')).class).toBe('system_write');
  });
});

describe('a write of a file that makes something run later', () => {
  it.each(['.envrc', 'sub/.github/workflows/ci.yml', '.git/hooks/pre-commit', '.GITLAB-CI.yml', '.git'])(
    'to %s prompts as persistence',
    async (path) => {
      expect(await judge({ writes: [path], changes: [{ path, content: 'x' }] })).toMatchObject({
        class: 'persistence',
        action: 'prompt',
        refused: false,
        reason: `${path} makes something run later`,
      });
    },
  );

  it('is found through a link to its folder', async () => {
    fs.put('.git/config', '');
    fs.link('tools', '/project/.git');
    expect(await judge({ writes: ['tools/hooks/pre-push'] })).toMatchObject({ class: 'persistence' });
  });

  it('is seen by what a package file holds afterwards', async () => {
    fs.put('package.json', '{"scripts":{"test":"vitest"}}');
    const path = 'package.json';
    const patch = (old: string, replacement: string) => judge({ reads: [path], writes: [path], changes: [{ path, old, replacement }] });
    expect(await patch('vitest', 'vitest run')).toMatchObject({ class: 'local_write', action: 'allow' });
    expect(await patch('test"', 'postinstall"')).toMatchObject({ class: 'persistence', action: 'prompt' });
    expect(await judge({ writes: [path] })).toMatchObject({ class: 'persistence' });
    expect(await judge({ writes: [path], changes: [{ path: 'other', content: '{}' }] })).toMatchObject({ class: 'persistence' });
  });

  it('may be read like any other file', async () => {
    fs.put('.envrc', 'x');
    expect(await judge({ reads: ['.envrc', '.git/hooks/pre-commit', 'package.json'] })).toMatchObject({ class: 'safe' });
  });
});

describe("a third party's tool", () => {
  const foreign = { foreign: true };

  it('is code execution, whatever it declares, and what it declares is shown', async () => {
    const effects = { reads: ['a'], writes: ['b'], hosts: ['c.example'], uploads: true, command: 'ls' };
    expect(await judge(effects, {}, { text: 'x' }, foreign)).toMatchObject({
      classes: ['code_execution'],
      action: 'prompt',
      explicit: false,
      needsPerson: true,
      reason: expect.stringMatching(/third party; it says it would run ls; write b; read a; change something at c\.example$/),
      resource: expect.stringContaining('{"text":"x"}'),
    });
  });

  it('that declares nothing to touch, or nothing at all, is asked about too', async () => {
    expect(await judge({}, {}, {}, foreign)).toMatchObject({
      action: 'prompt',
      reason: expect.stringContaining('touch nothing outside the run'),
    });
    const broken = () => {
      throw new Error('no');
    };
    expect(await judge(broken, {}, {}, foreign)).toMatchObject({
      classes: ['code_execution'],
      action: 'prompt',
      reason: expect.stringContaining('does not say what it would touch'),
    });
  });

  it('is allowed without a person by the action for everything alone', async () => {
    expect(await judge({}, yolo, {}, foreign)).toMatchObject({ action: 'allow', explicit: true, needsPerson: false });
    expect(await judge({}, { classes: { code_execution: 'allow' } }, {}, foreign)).toMatchObject({ action: 'allow', explicit: false });
    expect(await judge({}, { action: 'deny' }, {}, foreign)).toMatchObject({ action: 'deny' });
  });
});
