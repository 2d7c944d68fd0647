/** Figures as people read them. */

const KILO = 1_000;
const SECOND_MS = 1_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

/** `12 ms`, `1.2 s`, `2m 05s`, `1h 02m`. */
export function formatDuration(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < SECOND_MS) return `${whole} ms`;
  if (whole < MINUTE_MS) return `${(Math.floor(whole / 100) / 10).toFixed(1)} s`;
  const two = (value: number): string => String(Math.floor(value)).padStart(2, '0');
  if (whole < HOUR_MS) return `${Math.floor(whole / MINUTE_MS)}m ${two((whole % MINUTE_MS) / SECOND_MS)}s`;
  return `${Math.floor(whole / HOUR_MS)}h ${two((whole % HOUR_MS) / MINUTE_MS)}m`;
}

function scaled(value: number, unit: string): string {
  const text = value < 9.95 ? value.toFixed(1) : String(Math.round(value));
  return `${text} ${unit}`;
}

/** Decimal units: `812 B`, `3.4 kB`, `50 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < KILO) return `${Math.round(bytes)} B`;
  if (bytes < 999_500) return scaled(bytes / KILO, 'kB');
  return scaled(bytes / (KILO * KILO), 'MB');
}

/** `812`, `12.3k`, `1.2M`. */
export function formatTokens(count: number): string {
  if (count < KILO) return String(Math.round(count));
  if (count < 999_950) return `${(count / KILO).toFixed(1)}k`;
  return `${(count / (KILO * KILO)).toFixed(2)}M`;
}

/** US dollars, with the digits that small sums need. */
export function formatCost(usd: number): string {
  if (usd === 0) return '$0.00';
  return usd < 0.995 ? `$${usd.toFixed(4)}` : `$${usd.toFixed(2)}`;
}

/** `1 iteration`, `3 iterations`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
