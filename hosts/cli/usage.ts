import type { UsageDimension, UsageStore, UsageTotal } from '../../ports/usage.ts';
import type { CommandContext } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { loadToldWithoutModel } from './host.ts';
import { withStore } from './store.ts';
import { totalJson } from './usage/json.ts';
import { type UsageFigures, usageReport } from './usage/report.ts';
import { readSince } from './usage/since.ts';

const DEFAULT_SINCE = '30d';

async function readFigures(usage: UsageStore, since: number): Promise<UsageFigures> {
  const by = (...dimensions: UsageDimension[]): Promise<readonly UsageTotal[]> => usage.totals({ since, by: dimensions });
  return {
    calls: await by('provider', 'model', 'purpose'),
    days: await by('day'),
    models: await by('model'),
    surfaces: await by('surface'),
    total: await by(),
  };
}

/** `odek usage [--since <age or date>] [--json]`: what all runs of this machine used. */
export async function run(context: CommandContext): Promise<number> {
  const { args, io } = context;
  const since = readSince(String(args.flags.since ?? DEFAULT_SINCE), Date.now());
  const config = await loadToldWithoutModel(context);
  const found = await withStore(config, 'usage', (store) => readFigures(store.usage, since));
  if (args.flags.json === true) {
    const parts = Object.entries(found).map(([part, totals]) => [part, (totals as readonly UsageTotal[]).map(totalJson)]);
    io.stdout.write(`${JSON.stringify({ since: new Date(since).toISOString(), ...Object.fromEntries(parts) })}\n`);
  } else {
    for (const line of usageReport(found, io.columns)) io.stdout.write(`${line}\n`);
  }
  return EXIT.ok;
}
