/**
 * `npm start`: a first run with no key and no network. It is `odek run` itself, in a temporary copy
 * of docs/examples/sample, with a recording in the model's place; afterwards it tells what the
 * event file holds. What was written stays in the temporary folder for whoever wants to look.
 */
import { spawn } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const EXAMPLES = fileURLToPath(new URL('../docs/examples/', import.meta.url));
const ENTRY = fileURLToPath(new URL('entry.ts', import.meta.url));

const TASK = 'Look through this project and write what needs attention to report.md.';

/** Writing inside the folder is all that this run may do beside reading there. */
const CONFIG = { dangerous: { classes: { local_write: 'allow' }, non_interactive: 'read_only' } };

/** The environment less every setting of odek's own: the first run is the same for everybody. */
function neutralEnv(home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('ODEK_'));
  return { ...Object.fromEntries(kept), ODEK_HOME: home };
}

function runOdek(args: readonly string[], cwd: string, home: string): Promise<number> {
  const child = spawn(process.execPath, [ENTRY, ...args], { cwd, env: neutralEnv(home), stdio: 'inherit' });
  // Ctrl-C reaches the child too, and the child knows how to stop.
  const wait = (): void => undefined;
  process.on('SIGINT', wait);
  return new Promise((done, fail) => {
    child.once('error', fail);
    child.once('close', (code) => {
      process.off('SIGINT', wait);
      done(code ?? 1);
    });
  });
}

/** How often each type of event occurs, in order of first occurrence. */
function countTypes(lines: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of lines.split('\n').filter((each) => each !== '')) {
    const { type } = JSON.parse(line) as { readonly type: string };
    counts.set(type, (counts.get(type) ?? 0) + 1);
  }
  return counts;
}

async function tellEvents(file: string): Promise<void> {
  const counts = countTypes(await readFile(file, 'utf8'));
  const width = Math.max(...[...counts.keys()].map((type) => type.length));
  const total = [...counts.values()].reduce((sum, count) => sum + count, 0);
  console.log(`\n${total} events`);
  for (const [type, count] of counts) console.log(`  ${type.padEnd(width)}  ${String(count).padStart(3)}`);
}

const folder = await mkdtemp(join(tmpdir(), 'odek-first-run-'));
const project = join(folder, 'sample');
const home = join(folder, 'home');
const events = join(folder, 'events.jsonl');
await cp(join(EXAMPLES, 'sample'), project, { recursive: true });
await mkdir(home, { mode: 0o700 });
await writeFile(join(home, 'config.json'), `${JSON.stringify(CONFIG, null, 2)}\n`, { mode: 0o600 });

console.log(`odek run "${TASK}"\n  in ${project}, with docs/examples/first-run.json in the model's place\n`);
const code = await runOdek(['run', '--replay', join(EXAMPLES, 'first-run.json'), '--events-jsonl', events, TASK], project, home);
if (code === 0) {
  await tellEvents(events);
  console.log(`\nevent file  ${events}\nreport      ${join(project, 'report.md')}\n\nNext: README.md, "A real model".`);
}
process.exitCode = code;
