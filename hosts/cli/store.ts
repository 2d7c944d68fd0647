import type { Store } from '../../adapters/store/index.ts';
import type { ResolvedConfig } from '../config/types.ts';

/** Opens the database of the configured state folder. */
export async function openConfiguredStore(config: ResolvedConfig, surface: string): Promise<Store> {
  const [{ openStore }, { createSystemClock }, { createRandomIds }] = await Promise.all([
    import('../../adapters/store/index.ts'),
    import('../../adapters/clock/system.ts'),
    import('../../adapters/ids/random.ts'),
  ]);
  return openStore({
    path: config.state.database,
    surface,
    durability: config.durability,
    clock: createSystemClock(),
    ids: createRandomIds(),
  });
}

/** Opens the database of the configured state folder for one piece of work, and closes it. */
export async function withStore<Result>(config: ResolvedConfig, surface: string, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openConfiguredStore(config, surface);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}
