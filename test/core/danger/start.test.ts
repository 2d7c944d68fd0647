import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** Tells which modules are loaded before and after the first command is judged. */
const PROBE = `
import { registerHooks } from 'node:module';
const loaded = [];
registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
const { judgeCall } = await import('./core/approvals/judge.ts');
const { createShellGrammar } = await import('./adapters/shell-grammar/unbash.ts');
const { createDiskFileSystem } = await import('./adapters/fs/disk.ts');
const grammar = createShellGrammar();
const fs = createDiskFileSystem({ root: process.cwd(), stateDir: process.cwd() + '/.none' });
const policy = { classes: {}, allowlist: [], denylist: [], nonInteractive: 'deny' };
const judge = (effects) => judgeCall({ tool: { name: 'x', effects: () => effects }, input: {}, fs, policy, shell: { grammar } });
await judge({ reads: ['package.json'] });
const heavy = () => loaded.filter((url) => /node_modules\\/unbash|core\\/danger\\/(?:programs|classify|walk)/.test(url)).length;
const before = heavy();
const judgement = await judge({ command: 'ls' });
console.log(JSON.stringify({ before, after: heavy() > 10, class: judgement.class }));
`;

it('neither the parser nor the tables are loaded before the first command is judged', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROBE], { cwd: ROOT });
  expect(JSON.parse(stdout)).toEqual({ before: 0, after: true, class: 'safe' });
});
