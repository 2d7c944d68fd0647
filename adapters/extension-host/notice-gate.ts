import type { HostNotice } from '../../ports/extension-host.ts';

const WINDOW_MS = 1_000;
const MAX_IN_WINDOW = 100;

/** Lets so many notices through in a second; of the others one line tells the number. */
export function createNoticeGate(tell: (notice: HostNotice) => void): (notice: HostNotice) => void {
  let windowEnd = 0;
  let told = 0;
  let dropped = 0;
  return (notice) => {
    const now = performance.now();
    if (now >= windowEnd) {
      windowEnd = now + WINDOW_MS;
      told = 0;
      if (dropped > 0) tell({ kind: 'log', level: 'warning', message: `${dropped} messages of plugins were left out` });
      dropped = 0;
    }
    // What went wrong counts for more than what is merely told.
    if (told < MAX_IN_WINDOW || (notice.kind === 'faulted' && told < 2 * MAX_IN_WINDOW)) {
      told += 1;
      tell(notice);
    } else {
      dropped += 1;
    }
  };
}
