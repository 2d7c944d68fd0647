interface FieldSpec {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names?: readonly string[];
}

const MONTHS = ['jan', 'feb', 'mar', 'apr', 'may', 'jun', 'jul', 'aug', 'sep', 'oct', 'nov', 'dec'];
const DAYS = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'];

const FIELDS: readonly FieldSpec[] = [
  { name: 'minute', min: 0, max: 59 },
  { name: 'hour', min: 0, max: 23 },
  { name: 'day of month', min: 1, max: 31 },
  { name: 'month', min: 1, max: 12, names: MONTHS },
  { name: 'day of week', min: 0, max: 7, names: DAYS },
];

const MACROS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
};

const MAX_LINE = 512;
const SHOWN = 40;

/** A line taken apart and put together again in the one spelling that the calendar library reads as cron does. */
export interface CronLine {
  readonly pattern: string;
  /** Both days are restricted, so either one makes a date. */
  readonly eitherDay: boolean;
  /** No wildcard and no step in minutes and hours. */
  readonly fixed: boolean;
}

class FieldFault extends Error {}

function shown(text: string): string {
  return JSON.stringify(text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text);
}

function fault(field: FieldSpec, text: string, why: string): FieldFault {
  return new FieldFault(`${field.name} ${shown(text)}: ${why}`);
}

function numberOf(field: FieldSpec, text: string, whole: string): number {
  const named = field.names?.indexOf(text.toLowerCase()) ?? -1;
  if (named >= 0) return named + field.min;
  if (!/^\d{1,2}$/.test(text)) {
    const also = field.names ? ` or a name such as ${field.names[0]}` : '';
    throw fault(field, whole, `${shown(text)} is not a number from ${field.min} to ${field.max}${also}`);
  }
  const value = Number(text);
  if (value < field.min || value > field.max) throw fault(field, whole, `${value} is not from ${field.min} to ${field.max}`);
  return value;
}

/** One entry of a list: `*`, a value, a range, each with or without a step. */
function entry(field: FieldSpec, text: string, whole: string): string {
  const [range = '', step, ...more] = text.split('/');
  if (more.length > 0) throw fault(field, whole, 'it has more than one step');
  if (step !== undefined && (!/^\d{1,2}$/.test(step) || Number(step) < 1 || Number(step) > field.max)) {
    throw fault(field, whole, `the step ${shown(step)} is not a number from 1 to ${field.max}`);
  }
  const stepped = step === undefined ? '' : `/${Number(step)}`;
  if (range === '*') return `*${stepped}`;
  const [first = '', last, ...rest] = range.split('-');
  if (rest.length > 0) throw fault(field, whole, `${shown(range)} is not a range`);
  const low = numberOf(field, first, whole);
  // "a/n" means from a on.
  const high = last === undefined ? (step === undefined ? low : field.max) : numberOf(field, last, whole);
  if (low > high) throw fault(field, whole, `the range ${shown(range)} runs backwards`);
  return low === high && step === undefined ? String(low) : `${low}-${high}${stepped}`;
}

function normalised(field: FieldSpec, text: string): string {
  return text
    .split(',')
    .map((each) => entry(field, each, text))
    .join(',');
}

/** The parts of a cron line, or what is wrong with it. */
export function parseLine(line: string): CronLine | { readonly fault: string } {
  const trimmed = line.trim();
  if (trimmed.length > MAX_LINE) return { fault: `a cron line has at most ${MAX_LINE} characters; this one has ${trimmed.length}` };
  const written = trimmed.startsWith('@') ? MACROS[trimmed.toLowerCase()] : trimmed;
  if (written === undefined) return { fault: `there is no ${shown(trimmed)}; the macros are ${Object.keys(MACROS).join(' ')}` };
  const texts = written.split(/\s+/);
  if (texts.length !== FIELDS.length || trimmed === '') {
    const found = trimmed === '' ? 0 : texts.length;
    return { fault: `a cron line has five fields (minute, hour, day of month, month, day of week); ${shown(trimmed)} has ${found}` };
  }
  try {
    const fields = FIELDS.map((field, index) => normalised(field, texts[index] ?? ''));
    const isFree = (index: number): boolean => texts[index]?.startsWith('*') === true;
    return {
      pattern: fields.join(' '),
      eitherDay: !isFree(2) && !isFree(4),
      fixed: [0, 1].every((index) => !/[*/]/.test(texts[index] ?? '')),
    };
  } catch (error) {
    if (error instanceof FieldFault) return { fault: error.message };
    throw error;
  }
}
