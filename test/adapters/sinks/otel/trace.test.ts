import { describe, expect, it } from 'vitest';
import type { Span } from '../../../../adapters/sinks/otel/model.ts';
import { createTracer } from '../../../../adapters/sinks/otel/trace.ts';
import { toWireEvent } from '../../../../core/events/wire.ts';
import type { RunEvent, WireEvent, WireType } from '../../../../ports/event.ts';
import { WIRE_SAMPLES } from '../../../contracts/event-samples.ts';
import { completed, event, RUN, RUN_EVENTS, START, started, toolDone, toolStarted } from './events.ts';

function trace(events: readonly WireEvent[], provider: string | undefined = 'gemini') {
  const tracer = createTracer({ provider });
  const taken = events.map((each) => tracer.take(each));
  return { tracer, spans: taken.flatMap(({ spans }) => spans), measurements: taken.flatMap(({ measurements }) => measurements) };
}

const times = ({ start, end }: Span): readonly number[] => [start - START, end - START];

describe('the trace of a run', () => {
  const { spans, measurements } = trace(RUN_EVENTS);
  const root = spans.at(-1);
  const named = (name: string): Span => spans.find((span) => span.name === name) ?? expect.fail(`no span ${name}`);

  it('has a span for the agent, each model call and each tool call', () => {
    expect(spans.map(({ name }) => name)).toEqual([
      'execute_tool read_file',
      'execute_tool github__search',
      'chat big-model',
      'chat big-model',
      'invoke_agent odek',
    ]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(5);
    for (const { spanId } of spans) expect(spanId).toMatch(/^[0-9a-f]{16}$/);
  });

  it('has the run id as trace id, and the agent as parent of the rest', () => {
    expect(new Set(spans.map(({ traceId }) => traceId))).toEqual(new Set([RUN]));
    expect(root).not.toHaveProperty('parentId');
    expect(new Set(spans.slice(0, -1).map(({ parentId }) => parentId))).toEqual(new Set([root?.spanId]));
  });

  it('has the times of what happened', () => {
    expect(times(named('execute_tool read_file'))).toEqual([410, 450]);
    expect(times(named('execute_tool github__search'))).toEqual([412, 600]);
    expect(spans.filter(({ name }) => name === 'chat big-model').map(times)).toEqual([
      [0, 400],
      [602, 1_102],
    ]);
    expect(times(named('invoke_agent odek'))).toEqual([0, 1_112]);
  });

  it('has the names of the conventions', () => {
    expect(root?.attributes).toEqual({
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': 'odek',
      'gen_ai.request.model': 'big-model',
      'gen_ai.conversation.id': 's-1',
      'odek.run.id': RUN,
      'gen_ai.usage.input_tokens': 300,
      'gen_ai.usage.output_tokens': 60,
    });
    expect(named('chat big-model')).toMatchObject({
      kind: 'client',
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'big-model',
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 20,
        'odek.chat.time_to_first_token': 0.15,
        'odek.iteration': 1,
      },
    });
    expect(named('execute_tool read_file').attributes).toEqual({
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'read_file',
      'gen_ai.tool.type': 'function',
      'gen_ai.tool.call.id': 'c1',
      'odek.iteration': 1,
      'odek.tool.result_bytes': 812,
    });
    expect(named('execute_tool github__search').attributes).toMatchObject({ 'mcp.method.name': 'tools/call' });
    expect(named('execute_tool read_file').attributes).not.toHaveProperty('mcp.method.name');
  });

  it('marks what failed, with its class', () => {
    expect(named('execute_tool github__search')).toMatchObject({ status: 'error', attributes: { 'error.type': 'deadline_exceeded' } });
    expect(named('execute_tool read_file').status).toBe('unset');
    expect(root?.status).toBe('unset');
  });

  it('has the rest of the stream as events of the root', () => {
    expect(root?.events).toEqual([
      {
        name: 'context_trimmed',
        at: START + 610,
        attributes: { 'odek.mode': 'proactive', 'odek.dropped_groups': 2, 'odek.truncated_results': 0 },
      },
    ]);
  });

  it('measures tokens of model calls and durations of everything', () => {
    const told = measurements.map(({ metric, value, attributes }) => [
      metric,
      value,
      attributes['gen_ai.token.type'] ?? attributes['gen_ai.operation.name'],
      attributes['error.type'],
    ]);
    expect(told).toEqual([
      ['gen_ai.client.operation.duration', 0.038, 'execute_tool', undefined],
      ['gen_ai.client.operation.duration', 0.188, 'execute_tool', 'deadline_exceeded'],
      ['gen_ai.client.operation.duration', 0.4, 'chat', undefined],
      ['gen_ai.client.token.usage', 100, 'input', undefined],
      ['gen_ai.client.token.usage', 20, 'output', undefined],
      ['gen_ai.client.operation.duration', 0.5, 'chat', undefined],
      ['gen_ai.client.token.usage', 200, 'input', undefined],
      ['gen_ai.client.token.usage', 40, 'output', undefined],
      ['gen_ai.client.operation.duration', 1.112, 'invoke_agent', undefined],
    ]);
  });

  it('holds no argument and no text', () => {
    expect(JSON.stringify([spans, measurements])).not.toContain('private');
  });
});

describe('a run that does not end well', () => {
  it('has an error at its root, and the budget that ended it as an event', () => {
    const over = event('budget_exceeded', { at: 50 }, { limit_name: 'cost_usd', observed: 1.5, limit: 1 });
    const failed = event('run_failed', { at: 51 }, { duration_ms: 51, error_class: 'error' });
    const [root] = trace([started(), over, failed]).spans;
    expect(root).toMatchObject({ name: 'invoke_agent odek', status: 'error', attributes: { 'error.type': 'error' } });
    expect(root?.events).toEqual([
      { name: 'budget_exceeded', at: START + 50, attributes: { 'odek.limit_name': 'cost_usd', 'odek.observed': 1.5, 'odek.limit': 1 } },
    ]);
  });

  it('ends what was open when nobody else does', () => {
    const { tracer, spans } = trace([started(), toolStarted('shell', 'c1', 10)]);
    expect(spans).toEqual([]);
    const ended = tracer.endAll(START + 99).spans;
    expect(ended.map(({ name, attributes }) => [name, attributes['odek.interrupted']])).toEqual([
      ['execute_tool shell', true],
      ['invoke_agent odek', true],
    ]);
    expect(ended.map(times)).toEqual([
      [10, 99],
      [0, 99],
    ]);
    expect(tracer.endAll(START + 100).spans).toEqual([]);
  });
});

describe('a tracer', () => {
  it('keeps interleaved runs apart', () => {
    const other = 'cd'.repeat(16);
    const events = [
      started(),
      started(other, 5),
      toolStarted('a', 'same', 10),
      toolDone('a', 'same', 20, 10),
      completed(30),
      completed(40, other),
    ];
    const { spans } = trace(events);
    expect(spans.map(({ traceId, name }) => [traceId, name])).toEqual([
      [RUN, 'execute_tool a'],
      [RUN, 'invoke_agent odek'],
      [other, 'invoke_agent odek'],
    ]);
  });

  it('begins in the middle of a run, and makes a trace id of any run id', () => {
    const { spans } = trace([completed(10, 'not a trace id'), completed(10, '0'.repeat(32))]);
    for (const { traceId } of spans) expect(traceId).toMatch(/^(?!0+$)[0-9a-f]{32}$/);
  });

  it('has a span for a sub-agent', () => {
    const spawned = event(
      'subagent_spawned',
      { at: 5 },
      { task_id: 't1', pid: 7, depth: 1, timeout_seconds: 60, goal_sha256: 'a'.repeat(16) },
    );
    const ended = event('subagent_completed', { at: 25 }, { task_id: 't1', status: 'timeout', iterations: 3 });
    const [span] = trace([started(), spawned, ended]).spans;
    expect(span).toMatchObject({
      name: 'invoke_agent subagent',
      status: 'error',
      attributes: { 'odek.task.id': 't1', 'odek.iterations': 3, 'error.type': 'timeout' },
    });
  });

  it('takes every event of the stream, and those of a newer odek', () => {
    const tracer = createTracer({});
    for (const [type, data] of Object.entries(WIRE_SAMPLES)) {
      const wire = toWireEvent({ type, data, runId: RUN, at: START } as RunEvent, { includeArgs: true });
      tracer.take(wire ?? expect.fail(`${type} has no wire form`));
    }
    for (const data of [null, undefined, 7, { deep: [{ er: null }] }]) {
      for (const type of ['novel', ...Object.keys(WIRE_SAMPLES)]) {
        tracer.take({ ...started(), type: type as WireType, data } as unknown as WireEvent);
        tracer.take({ type, data } as unknown as WireEvent);
      }
    }
    expect(tracer.endAll(START).spans.length).toBeGreaterThan(0);
  });

  it('is bounded in runs, open calls and events', () => {
    const tracer = createTracer({});
    const evicted = Array.from({ length: 100 }, (_, at) => tracer.take(started(`f${at.toString(16).padStart(31, '0')}`))).flatMap(
      ({ spans }) => spans,
    );
    expect(evicted).toHaveLength(36);
    for (let at = 0; at < 1_000; at += 1) {
      tracer.take(toolStarted('shell', `c${at}`, at));
      tracer.take(event('plan_created', { at }, { steps: 1, version: at }));
    }
    const ended = tracer.take(completed(2_000)).spans;
    expect(ended).toHaveLength(257);
    expect(ended.at(-1)).toMatchObject({ droppedEvents: 872 });
    expect(ended.at(-1)?.events).toHaveLength(128);
  });
});
