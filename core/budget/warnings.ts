/** How much of one limit is used. */
export interface Dimension {
  readonly share: number;
  /** For people: `12/15 iterations`, `1m0s of 2m0s elapsed`. */
  readonly detail: string;
}

const LINES = [
  { at: 0.9, text: (detail: string) => `[budget: 90% used (${detail}) — final stretch: deliver your report with the next response.]` },
  {
    at: 0.75,
    text: (detail: string) => `[budget: 75% used (${detail}) — begin consolidating findings; wrap up within the remaining budget.]`,
  },
  { at: 0.5, text: (detail: string) => `[budget: 50% used (${detail}) — stay on plan; defer optional work.]` },
] as const;

/** `45s`, `1m0s`, `2h0m5s`. */
export function formatElapsed(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const rest = `${seconds % 60}s`;
  if (hours > 0) return `${hours}h${minutes}m${rest}`;
  return minutes > 0 ? `${minutes}m${rest}` : rest;
}

/**
 * The lines at 50, 75 and 90 %, each at most once. When several thresholds are crossed at once, only
 * the highest is told. The dimension that is used most speaks.
 */
export function createWarnings(): (dimensions: readonly Dimension[]) => string | undefined {
  let told = 0;
  return (dimensions) => {
    const highest = dimensions.reduce<Dimension | undefined>(
      (top, next) => (top === undefined || next.share > top.share ? next : top),
      undefined,
    );
    if (highest === undefined) return undefined;
    const line = LINES.find(({ at }) => highest.share >= at);
    if (line === undefined || line.at <= told) return undefined;
    told = line.at;
    return line.text(highest.detail);
  };
}
