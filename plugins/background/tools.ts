import type { JobControl, JobView } from '../../ports/job.ts';
import { defineTool, type ToolResult, type ToolSpec } from '../../ports/plugin.ts';

interface StartInput {
  readonly command: string;
  readonly timeout_seconds?: number;
}

interface JobInput {
  readonly job_id: string;
}

const SOURCE = 'bg';
const MAX_COMMAND_CHARS = 80;
/** A page of output, of which every character may take six in JSON. */
const MAX_OUTPUT_CHARS = 220_000;
const MAX_VIEW_CHARS = 40_000;

const JOB_ID = { type: 'object', properties: { job_id: { type: 'string' } }, required: ['job_id'] } as const;

/** `bg_start`: judged and approved as a `shell` command is. */
export function startTool(jobs: JobControl): ToolSpec {
  return defineTool<StartInput>({
    name: 'bg_start',
    description:
      'Start a command with sh -c in the background, for servers, watchers and long builds: {job_id,status}. You are told when it ends; it is killed when the session ends.',
    parameters: {
      type: 'object',
      properties: {
        command: { type: 'string', minLength: 1 },
        timeout_seconds: { type: 'number', minimum: 1, description: 'Kill it after so long (default: never)' },
      },
      required: ['command'],
    },
    maxResultChars: MAX_VIEW_CHARS,
    effects: ({ command }) => ({ command }),
    async execute({ command, timeout_seconds: seconds }, { workspace, runId }) {
      const timeoutMs = seconds === undefined ? {} : { timeoutMs: seconds * 1000 };
      const job = await jobs.start({ command, cwd: workspace, run: runId, ...timeoutMs });
      const limit = job.timeoutMs === undefined ? {} : { timeout_s: inSeconds(job.timeoutMs) };
      return json({ job_id: job.id, status: job.status, ...limit });
    },
  });
}

/** `bg_list`: the jobs of the session. */
export function listTool(jobs: JobControl): ToolSpec {
  return defineTool<object>({
    name: 'bg_list',
    description: 'The background jobs of this session: [{job_id,command,status,runtime_s,exit_code,output_bytes}].',
    parameters: { type: 'object', properties: {} },
    maxResultChars: MAX_VIEW_CHARS,
    effects: () => ({}),
    execute: async (_, { runId }) => json(jobs.list(runId).map(shown)),
  });
}

/** `bg_status`: one job. */
export function statusTool(jobs: JobControl): ToolSpec {
  return defineTool<JobInput>({
    name: 'bg_status',
    description: 'How a background job stands: status running, exited, failed, timeout, killed or unknown.',
    parameters: JOB_ID,
    maxResultChars: MAX_VIEW_CHARS,
    effects: () => ({}),
    execute: async ({ job_id: id }, { runId }) => json(shownOrUnknown(jobs.status(id, runId))),
  });
}

/** `bg_output`: a page of what a job wrote. */
export function outputTool(jobs: JobControl): ToolSpec {
  return defineTool<JobInput & { readonly since?: number }>({
    name: 'bg_output',
    description:
      'What a background job wrote, 32 KiB at most: {output,next_cursor,status}. Give next_cursor as since for what follows; the last 1 MiB is kept.',
    parameters: {
      type: 'object',
      properties: { job_id: { type: 'string' }, since: { type: 'integer', minimum: 0, description: 'Default: the oldest that is kept' } },
      required: ['job_id'],
    },
    maxResultChars: MAX_OUTPUT_CHARS,
    effects: () => ({}),
    async execute({ job_id: id, since }, { runId }) {
      const page = jobs.output(id, since ?? 0, runId);
      if (page === undefined) return json(shownOrUnknown(undefined), 'bg_output');
      const dropped = page.dropped > 0 && { dropped_bytes: page.dropped };
      return json({ output: page.text, next_cursor: page.next, status: page.status, ...dropped }, 'bg_output');
    },
  });
}

/** `bg_stop`: kills a job with everything it started. */
export function stopTool(jobs: JobControl): ToolSpec {
  return defineTool<JobInput>({
    name: 'bg_stop',
    description: 'Kill a background job and everything it started.',
    parameters: JOB_ID,
    maxResultChars: MAX_VIEW_CHARS,
    effects: () => ({}),
    execute: async ({ job_id: id }, { runId }) => json(shownOrUnknown(await jobs.stop(id, runId))),
  });
}

function shownOrUnknown(job: JobView | undefined): object {
  return job === undefined ? { status: 'unknown' } : shown(job);
}

function shown({ id, command, status, runtimeMs, exitCode, outputBytes }: JobView): object {
  return {
    job_id: id,
    command: head(command),
    status,
    runtime_s: inSeconds(runtimeMs),
    ...(exitCode !== undefined && { exit_code: exitCode }),
    output_bytes: outputBytes,
  };
}

function head(command: string): string {
  const points = [...command];
  return points.length <= MAX_COMMAND_CHARS ? command : `${points.slice(0, MAX_COMMAND_CHARS - 1).join('')}…`;
}

function inSeconds(ms: number): number {
  return Math.round(ms / 100) / 10;
}

function json(value: unknown, source = SOURCE): ToolResult {
  return { content: JSON.stringify(value), source };
}
