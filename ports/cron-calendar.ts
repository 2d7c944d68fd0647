/** Why a cron line or its zone cannot be used. */
export interface CronFault {
  /** Names the field, the value seen and what is allowed. */
  readonly fault: string;
}

/** A cron line in its zone. Asks no clock: all instants are milliseconds since the epoch. */
export interface CronSchedule {
  /** Due instants after `after` and up to `until`, in order, the first `limit` of them. */
  between(after: number, until: number, limit: number): readonly number[];
  /** The next `count` due instants after `after`; fewer where there are no more within nine years. */
  next(after: number, count: number): readonly number[];
  /** Fixed times of day, so each is due once a day; else the line follows real minutes through a change of clocks. */
  readonly fixed: boolean;
}

/**
 * Cron lines and civil time.
 *
 * Contract (the `cron-calendar` suite):
 * - A line has five fields (values, ranges, steps, lists, month and day names in any case, day of week 0 to 7) or is a macro; anything else is a fault that names the field.
 * - Day of month and day of week, both restricted, are joined by OR; a field that begins with `*` restricts nothing by itself.
 * - A fixed time inside a spring gap is due at the first minute after the gap.
 * - A fixed time inside an autumn fold is due once, at its first occurrence.
 * - A line with a wildcard or a step in minutes or hours goes on through both hours of a fold.
 * - Instants are whole minutes, strictly increasing, and the same from wherever they are asked.
 * - A line that has no date within nine years is a fault, and so is an unknown zone.
 */
export interface CronCalendar {
  /** `timezone` is an IANA name. */
  parse(cron: string, timezone: string): CronSchedule | CronFault;
}
