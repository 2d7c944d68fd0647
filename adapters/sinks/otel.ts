import { type AdapterServices, defineAdapter } from '../../ports/adapter.ts';
import { ConfigError, OdekError } from '../../ports/errors.ts';
import type { EventSink } from '../../ports/event-sink.ts';
import { createExporter, type ExporterOptions } from './otel/exporter.ts';
import { createTracer } from './otel/trace.ts';

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,128}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]{0,4096}$/;

function refuse(what: string, value: unknown): never {
  throw new ConfigError('invalid_sink_options', `the otel sink ${what}`, { value });
}

function readEndpoint(value: unknown): string {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  const usable = url !== null && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (!usable || url.search !== '' || url.hash !== '') {
    return refuse('needs "endpoint", an http or https URL without user, query and fragment', url === null ? value : url.origin);
  }
  return url.href.replace(/\/+$/, '');
}

/** Values of headers are never shown: they are how receivers are paid. */
function readHeaders(value: unknown): Readonly<Record<string, string>> {
  if (value === undefined) return {};
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return refuse('takes "headers" as an object', typeof value);
  for (const [name, text] of Object.entries(value)) {
    const valid = HEADER_NAME.test(name) && typeof text === 'string' && HEADER_VALUE.test(text);
    if (!valid) refuse(`has a header that cannot be sent: ${JSON.stringify(name.slice(0, 128))}`, name.slice(0, 128));
  }
  return value as Readonly<Record<string, string>>;
}

function readText(name: string, value: unknown): string | undefined {
  if (value === undefined) return undefined;
  return typeof value === 'string' && /\S/.test(value) && value.length <= 256 ? value : refuse(`takes "${name}" as text`, value);
}

interface OtelOptions extends ExporterOptions {
  /** odek's id of the provider. */
  readonly provider: string | undefined;
}

function readOptions(options: Readonly<Record<string, unknown>>): OtelOptions {
  const known = ['endpoint', 'headers', 'service_name', 'provider', 'version'];
  const unknown = Object.keys(options).find((name) => !known.includes(name));
  if (unknown !== undefined) refuse(`has no option "${unknown}"; it has ${known.slice(0, 3).join(', ')}`, unknown);
  const version = readText('version', options.version);
  return {
    endpoint: readEndpoint(options.endpoint),
    headers: readHeaders(options.headers),
    provider: readText('provider', options.provider),
    resource: {
      'service.name': readText('service_name', options.service_name) ?? 'odek',
      ...(version !== undefined && { 'service.version': version }),
    },
  };
}

/**
 * Makes spans and metrics of the events and sends them to an OTLP receiver over HTTP, in JSON, in the
 * background. A receiver that is slow or down costs telemetry, never a run: what is lost is counted
 * and told when the sink closes.
 */
export function createOtelSink(options: OtelOptions, services: AdapterServices): EventSink {
  const tracer = createTracer({ provider: options.provider });
  const exporter = createExporter(options, services);
  let closing: Promise<void> | undefined;
  const closeAll = async (): Promise<void> => {
    const { spans, measurements } = tracer.endAll(services.clock.now());
    exporter.add(spans, measurements);
    await exporter.close();
  };
  return {
    async accept(event) {
      if (closing !== undefined) throw new OdekError('sink_closed', 'the otel sink is closed');
      const { spans, measurements } = tracer.take(event);
      exporter.add(spans, measurements);
    },
    close() {
      closing ??= closeAll();
      return closing;
    },
  };
}

export default defineAdapter({
  port: 'event-sink',
  name: 'otel',
  create: (options, services) => createOtelSink(readOptions(options), services),
});
