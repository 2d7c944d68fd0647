import type { FlagSpec } from './command.ts';
import { flagOf } from './flags.ts';

const LIMITS = ['max_runtime_seconds', 'max_tool_calls', 'max_input_tokens', 'max_output_tokens', 'max_cost_usd'];

/** Flags of `odek schedule`; which action takes which is in {@link SCHEDULE_ACTIONS}. */
export const SCHEDULE_FLAGS: readonly FlagSpec[] = [
  { name: 'cron', kind: 'string', placeholder: 'line', summary: 'Five fields or a macro such as @daily: when the job is due.' },
  { name: 'name', kind: 'string', placeholder: 'name', summary: 'Name of the job. Default: the first words of the task.' },
  { name: 'tz', kind: 'string', placeholder: 'zone', summary: 'Time zone of the line, such as Europe/Berlin. Default: as configured.' },
  {
    name: 'deliver',
    kind: 'string',
    placeholder: 'where',
    summary: 'Where the result goes: stdout, log, telegram, telegram:<chat>, file:<path> or webhook:<url>. Default: stdout.',
  },
  { name: 'catchup', kind: 'boolean', negatable: true, summary: 'After missed times, run once for the newest. Default: as configured.' },
  {
    name: 'disabled',
    kind: 'boolean',
    negatable: true,
    summary: 'Store the job, and let it wait for odek schedule enable. With edit, --no-disabled turns it on.',
  },
  {
    name: 'overlap',
    kind: 'string',
    placeholder: 'rule',
    choices: ['skip', 'queue'],
    summary: 'A time that comes while the job runs is skipped, or one waits. Default: skip.',
  },
  {
    name: 'session',
    kind: 'string',
    placeholder: 'rule',
    choices: ['fresh', 'continue'],
    summary: "A new session for every run, or all go on with the job's own. Default: fresh.",
  },
  {
    name: 'workspace',
    kind: 'string',
    placeholder: 'folder',
    completes: 'folder',
    summary: 'Folder that the runs work in. Default: the current one.',
  },
  {
    name: 'timeout',
    kind: 'number',
    placeholder: 'seconds',
    integer: true,
    min: 1,
    max: 86_400,
    summary: 'Longest run. Default: as configured.',
  },
  {
    name: 'daily-tokens',
    kind: 'number',
    placeholder: 'tokens',
    integer: true,
    min: 0,
    summary: 'Tokens that the job may use in a day of its zone; then its times are skipped. 0 is off, and the default.',
  },
  flagOf('model'),
  ...LIMITS.map((name) => flagOf(`limits.${name}`)),
  { name: 'count', kind: 'number', placeholder: 'n', integer: true, min: 1, max: 100, summary: 'Due times that next shows. Default: 5.' },
  {
    name: 'limit',
    kind: 'number',
    placeholder: 'n',
    integer: true,
    min: 1,
    max: 10_000,
    summary: 'Records that history and deliveries show. Default: 20.',
  },
  { name: 'skip-bad', kind: 'boolean', summary: 'Import the jobs that can be taken, and leave the others out.' },
  { name: 'json', kind: 'boolean', summary: 'Print JSON instead of text.' },
];

const ADD = [
  'cron',
  'name',
  'tz',
  'deliver',
  'catchup',
  'disabled',
  'overlap',
  'session',
  'workspace',
  'timeout',
  'daily-tokens',
  'model',
] as const;
const BUDGETS = ['max-runtime', 'max-tool-calls', 'max-input-tokens', 'max-output-tokens', 'max-cost-usd'] as const;
const A_JOB = 'the id or name of a job; "odek schedule list" shows them';

export interface ActionSpec {
  readonly flags: readonly string[];
  /** The argument without which it does nothing. */
  readonly needs?: string;
  /** Most arguments. */
  readonly takes: number;
}

/** What each action of `odek schedule` takes. */
export const SCHEDULE_ACTIONS = {
  add: { flags: [...ADD, ...BUDGETS, 'json'], needs: 'a task in words', takes: Number.POSITIVE_INFINITY },
  edit: { flags: [...ADD, ...BUDGETS, 'json'], needs: A_JOB, takes: Number.POSITIVE_INFINITY },
  list: { flags: ['json'], takes: 0 },
  show: { flags: ['json'], needs: A_JOB, takes: 1 },
  rm: { flags: [], needs: A_JOB, takes: 1 },
  enable: { flags: [], needs: A_JOB, takes: 1 },
  disable: { flags: [], needs: A_JOB, takes: 1 },
  run: { flags: ['json'], needs: A_JOB, takes: 1 },
  next: { flags: ['count', 'json'], takes: 1 },
  history: { flags: ['limit', 'json'], takes: 1 },
  deliveries: { flags: ['limit', 'json'], takes: 0 },
  status: { flags: ['json'], takes: 0 },
  import: { flags: ['workspace', 'skip-bad', 'json'], takes: 1 },
  daemon: { flags: [], takes: 0 },
} as const satisfies Readonly<Record<string, ActionSpec>>;

export type ScheduleAction = keyof typeof SCHEDULE_ACTIONS;
