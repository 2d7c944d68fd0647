import type { CommandContext } from './command.ts';
import { loadToldWithoutModel } from './host.ts';
import { runSessionCommand } from './session.ts';
import { withStore } from './store.ts';

/** `odek session …`: what is stored, without a model. */
export async function run(context: CommandContext): Promise<number> {
  const { args, io } = context;
  const config = await loadToldWithoutModel(context);
  return withStore(config, 'session', (store) =>
    runSessionCommand(args.positionals, {
      store: store.sessions,
      out: (line) => void io.stdout.write(`${line}\n`),
      err: (line) => void io.stderr.write(`${line}\n`),
      now: Date.now,
      flags: args.flags,
    }),
  );
}
