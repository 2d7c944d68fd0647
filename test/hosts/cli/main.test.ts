import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exitCodeOfError, exitCodeOfOutcome } from '../../../hosts/cli/exit-codes.ts';
import manifest from '../../../package.json' with { type: 'json' };
import { BudgetExceeded } from '../../../ports/budget.ts';
import { CancelledError, ConfigError } from '../../../ports/errors.ts';
import { SessionError } from '../../../ports/session.ts';
import { odek } from './terminal.ts';

const MAIN = fileURLToPath(new URL('../../../hosts/cli/main.ts', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-main-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

describe('main', () => {
  it('prints the overview without arguments and with --help', async () => {
    const alone = await odek([]);
    expect(alone.code).toBe(0);
    expect(alone.out).toContain('usage: odek <command>');
    for (const flag of ['--help', '-h', 'help']) expect(await odek([flag])).toEqual(alone);
  });

  it.each(['version', '--version', '-v'])('prints the version for %s', async (word) => {
    const { code, out, err } = await odek([word]);
    expect([code, out, err]).toEqual([0, `odek ${manifest.version} (node ${process.versions.node})\n`, '']);
  });

  it('loads almost nothing to print the version', async () => {
    const probe = join(folder, 'probe.mjs');
    await writeFile(
      probe,
      `import { registerHooks } from 'node:module';
       const seen = [];
       registerHooks({ resolve: (name, context, next) => { const found = next(name, context); seen.push(found.url); return found; } });
       const { main } = await import(${JSON.stringify(MAIN)});
       await main(['version']);
       console.log(JSON.stringify(seen.filter((url) => url.startsWith('file:')).map((url) => url.split('/').slice(-2).join('/'))));`,
    );
    const { stdout } = await promisify(execFile)(process.execPath, [probe]);
    expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toEqual(['cli/main.ts', 'cli/version.ts']);
  });

  it('refuses an unknown command with exit code 3, names the nearest, and writes nothing to stdout', async () => {
    const { code, out, err } = await odek(['vresion']);
    expect([code, out]).toEqual([3, '']);
    expect(err).toContain('odek: unknown command "vresion"; did you mean odek version?');
    expect((await odek(['constructor'])).code).toBe(3);
  });

  it('refuses an unknown flag with exit code 3', async () => {
    const { code, err } = await odek(['run', '--modle', 'x', 'task']);
    expect(code).toBe(3);
    expect(err).toContain('did you mean --model?');
  });

  it('shows what an error, a warning and the view of the configuration quote as what it is', async () => {
    const steers = '\x1b]0;title\x07\x1b[2J\x9b31m\u202e';
    const cwd = join(folder, `project ${steers}`);
    await mkdir(cwd);
    await writeFile(join(cwd, 'odek.json'), JSON.stringify({ [`zz${steers}`]: 1, model: 'm' }));
    const env = { HOME: folder };
    for (const argv of [['config'], ['doctor'], ['run', '--replay', steers, 'x'], ['mcp', 'probe', steers]]) {
      const { out, err } = await odek(argv, { cwd, env });
      expect(`${argv[0]}: ${out}${err}`).toContain('\\x1b]0;title\\x07\\x1b[2J\\x9b31m\\u202e');
      for (const character of '\x1b\x07\x9b\u202e') expect(out + err).not.toContain(character);
    }
  });

  it('survives a reader that goes away', async () => {
    const script = join(folder, 'help.mjs');
    await writeFile(script, `const { main } = await import(${JSON.stringify(MAIN)}); process.exitCode = await main(['help', 'run']);`);
    const { stderr } = await promisify(execFile)('bash', [
      '-c',
      `"${process.execPath}" "${script}" | true; echo "code \${PIPESTATUS[0]}" >&2`,
    ]);
    expect(stderr.trim()).toBe('code 0');
  });
});

describe('exit codes', () => {
  it('follow the outcome', () => {
    expect((['answer', 'partial', 'failed', 'budget', 'cancelled'] as const).map(exitCodeOfOutcome)).toEqual([0, 0, 1, 4, 130]);
  });

  it('follow the kind of an error, also of another copy of the package', () => {
    class OtherCopy extends Error {}
    const foreign = new OtherCopy('x');
    Object.defineProperty(foreign, Symbol.for('odek.error'), { value: true });
    Object.assign(foreign, { code: 'anything', name: 'ConfigError' });
    const codes = [
      new ConfigError('no_model', 'x'),
      foreign,
      new BudgetExceeded('runtime', 2, 1),
      new CancelledError(),
      new SessionError('session_not_found', 'x'),
      new SessionError('disk_full', 'x'),
      new Error('x'),
      'x',
    ].map(exitCodeOfError);
    expect(codes).toEqual([3, 3, 4, 130, 3, 1, 1, 1]);
  });
});
