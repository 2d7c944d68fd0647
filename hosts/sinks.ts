import { SINKS } from '../adapters/sinks/index.ts';
import { toWireEvent } from '../core/events/wire.ts';
import { createFanOut, type FanOut } from '../core/guards/fan-out.ts';
import type { AdapterServices } from '../ports/adapter.ts';
import type { Clock } from '../ports/clock.ts';
import { ConfigError } from '../ports/errors.ts';
import type { RunEvent } from '../ports/event.ts';
import type { EventSink } from '../ports/event-sink.ts';
import type { HttpClient } from '../ports/http.ts';
import type { DefinitionOf, LoadedAdapters } from './adapters.ts';
import type { Edges, HostEnvironment } from './environment.ts';
import { endpointProxy } from './network.ts';

const QUEUE_LIMIT = 1024;
const CLOSE_TIMEOUT_MS = 2_000;

/** The receiver is the operator's: its host, on whatever network, and no other (DECISIONS 13). */
async function openTelemetry(
  own: DefinitionOf<'event-sink'>,
  options: Readonly<Record<string, unknown>>,
  { config, selection }: HostEnvironment,
  services: AdapterServices,
): Promise<EventSink> {
  const { createHttpClient, hostPort } = await import('../adapters/http/index.ts');
  const url = URL.parse(String(options.endpoint));
  const allowHosts = url === null || url.host === '' ? [] : [hostPort(url)];
  const http = createHttpClient({ mode: 'operator', allowHosts, ...endpointProxy(config, url) });
  const { odekVersion } = await import('./cli/version.ts');
  const sink = await own.create({ provider: selection.id, version: odekVersion(), ...options }, { ...services, http });
  return { ...sink, close: () => sink.close().finally(() => http.close()) };
}

async function openSink(
  name: string,
  options: Readonly<Record<string, unknown>>,
  environment: HostEnvironment,
  adapters: LoadedAdapters,
  services: AdapterServices,
): Promise<EventSink> {
  if (Object.hasOwn(SINKS, name)) {
    const own: DefinitionOf<'event-sink'> = (await SINKS[name as keyof typeof SINKS]()).default;
    return name === 'otel' ? openTelemetry(own, options, environment, services) : own.create(options, services);
  }
  const outside = adapters.sinks.get(name);
  if (!outside) {
    const known = [...Object.keys(SINKS), ...adapters.sinks.keys()];
    throw new ConfigError('unknown_sink', `sinks: "${name}" is not known; there are ${known.join(', ')}`, { value: name, limit: known });
  }
  const { createAdapter } = await import('./adapters.ts');
  return createAdapter<'event-sink'>(outside, options, services);
}

/** Every sink of the configuration and the `--events-jsonl` file, behind one fan-out. */
export async function openSinks(
  environment: HostEnvironment,
  adapters: LoadedAdapters,
  http: HttpClient,
  clock: Clock,
  edges: Edges,
): Promise<FanOut> {
  const services: AdapterServices = { clock, http, log: edges.log };
  const wanted = Object.entries(environment.config.sinks);
  if (environment.eventFile !== undefined) wanted.push(['jsonl', { path: environment.eventFile }]);
  const sinks: { name: string; sink: EventSink }[] = [];
  for (const [name, options] of wanted) sinks.push({ name, sink: await openSink(name, options, environment, adapters, services) });
  return createFanOut(sinks, {
    clock,
    queueLimit: QUEUE_LIMIT,
    closeTimeoutMs: CLOSE_TIMEOUT_MS,
    onDropped: (sink, count) => edges.onEvent({ type: 'sink_dropped', sink, count, runId: '', at: clock.now() }),
  });
}

/** Every event goes to the surface; those with a wire form go to the sinks. */
export function reportEvent(event: RunEvent, edges: Edges, sinks: FanOut, environment: HostEnvironment): void {
  const wire = toWireEvent(event, { includeArgs: environment.eventsIncludeArgs });
  if (wire) sinks.emit(wire);
  edges.onEvent(event);
}
