import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readEvents, typesOf } from '../support/events.ts';
import { isAlive, pidIn, until } from '../support/processes.ts';
import { onStage, PATIENT } from '../support/stage.ts';

const ALLOW = { config: { dangerous: { action: 'allow' } } };
/** The ids of processes mean something to the test only where commands have the machine's. */
const OPEN = { config: { ...ALLOW.config, sandbox: false } };
const FAMILY = 'echo $$ > child; sh -c \'echo $$ > grandchild; trap "" TERM INT; sleep 60 & wait; sleep 60\'';

describe.concurrent('Ctrl-C', PATIENT, () => {
  it('ends a run that waits for the model with 130, tells its events and keeps the session', () =>
    onStage([{ hang: true }, { text: 'continued' }], async ({ start, run, server, work }) => {
      const file = join(work, 'events.jsonl');
      const running = start(['run', 'hello', '--json', '--events-jsonl', file]);
      await until('the request', () => server.count === 1);
      running.child.kill('SIGINT');
      const { code, stdout, stderr } = await running.ended;
      expect(code).toBe(130);
      const result = JSON.parse(stdout);
      expect(result).toMatchObject({ outcome: 'cancelled', answer: '' });
      expect(stderr).toContain(`odek continue --id ${result.session_id}`);
      const events = await readEvents(file);
      expect(events.at(-1)).toMatchObject({ type: 'run_failed', data: { error_class: 'context_canceled' } });
      await until('no connection is left', () => server.connections === 0);
      expect(await run(['continue', '--id', result.session_id])).toMatchObject({ code: 0, stdout: 'continued\n' });
    }));

  it('kills the command that runs, and what it started', () =>
    onStage(
      [{ calls: [{ name: 'shell', arguments: { command: FAMILY } }] }, { text: 'continued' }],
      async ({ start, run, work, server }) => {
        const file = join(work, 'events.jsonl');
        const running = start(['run', 'wait', '--json', '--events-jsonl', file]);
        const pids = [await pidIn(join(work, 'child')), await pidIn(join(work, 'grandchild'))];
        running.child.kill('SIGINT');
        const { code, stdout } = await running.ended;
        expect(code).toBe(130);
        expect(pids.filter(isAlive)).toEqual([]);
        expect(typesOf(await readEvents(file), 'session_saved', 'iteration_completed')).toEqual([
          'run_started',
          'tool_call_started',
          'tool_call_failed',
          'run_failed',
        ]);
        expect(await run(['continue', '--id', JSON.parse(stdout).session_id])).toMatchObject({ code: 0 });
        expect(server.requests.at(-1)?.body.messages.at(-1).content).toContain('was cancelled while it was running');
      },
      OPEN,
    ));

  it('does not start what still waits in the batch', () =>
    onStage(
      [
        {
          calls: [
            { name: 'shell', arguments: { command: 'echo $$ > child; sleep 60' } },
            { name: 'shell', arguments: { command: 'touch second' } },
          ],
        },
      ],
      async ({ start, work }) => {
        const running = start(['run', 'wait']);
        await pidIn(join(work, 'child'));
        running.child.kill('SIGINT');
        expect((await running.ended).code).toBe(130);
        await expect(readFile(join(work, 'second'))).rejects.toThrow('ENOENT');
      },
      ALLOW,
    ));

  it('ends a wait for the next try', () =>
    onStage([{ status: 503, error: { message: 'busy' }, headers: { 'retry-after': '50' }, times: 9 }], async ({ start }) => {
      const running = start(['run', 'hello']);
      await running.untilTold('try 2 in 50 s');
      running.child.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
    }));

  it('twice ends the program at once, whatever does not listen to the first', () =>
    onStage(
      [{ hang: true }],
      async ({ start, work, server }) => {
        await writeFile(join(work, '..', 'stuck.mjs'), STUCK_SINK);
        const running = start(['run', 'hello', '--json']);
        await until('the request', () => server.count === 1);
        running.child.kill('SIGINT');
        running.child.kill('SIGTERM');
        const { code, stdout } = await running.ended;
        expect(code).toBe(130);
        // After the first alone the result would have come, once the sink had been given up.
        expect(stdout).toBe('');
      },
      { config: { adapters: ['../stuck.mjs'], sinks: { stuck: {} } } },
    ));
});

/** An adapter from outside that never takes an event and never closes. */
const STUCK_SINK = `export default { port: 'event-sink', name: 'stuck', create: () => ({ accept: () => new Promise(() => {}), close: () => new Promise(() => {}) }) };`;
