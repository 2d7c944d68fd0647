/**
 * The first file that runs. It has no static import and no syntax younger than Node 18, so that
 * a Node below the floor gets one clear line and not a parse error of some other file.
 */
const FLOOR_MAJOR = 22;
const FLOOR_MINOR = 19;
/** Milliseconds a forgotten handle may keep the process alive after the command ended. */
const LINGER_MS = 2_000;

/**
 * Lets node keep what it compiled of the bundle, which saves a tenth of each later start. It lies beside
 * the bundle: who can write there could change the program itself. Where that folder is read-only,
 * node goes on without.
 */
function keepCompiledCode(): void {
  if (!import.meta.url.endsWith('.js')) return;
  const { enableCompileCache } = process.getBuiltinModule('node:module');
  enableCompileCache(`${import.meta.dirname}/cache`);
}

const version = process.versions.node;
const parts = version.split('.');
const major = Number(parts[0]);
const minor = Number(parts[1]);

if (major < FLOOR_MAJOR || (major === FLOOR_MAJOR && minor < FLOOR_MINOR)) {
  process.stderr.write(`odek: this is Node ${version}; odek needs Node ${FLOOR_MAJOR}.${FLOOR_MINOR} or newer\n`);
  process.exitCode = 3;
} else {
  keepCompiledCode();
  const { main } = await import('./cli/main.ts');
  // A promise alone keeps no process alive: one that never settles would end odek before its time limit does.
  const awake = setInterval(() => {}, LINGER_MS);
  process.exitCode = await main(process.argv.slice(2));
  clearInterval(awake);
  // Never an exit at once: what is still on its way to stdout would be lost.
  setInterval(() => {
    if (process.stdout.writableLength === 0) process.exit();
  }, LINGER_MS).unref();
}

export {};
