import { readFileSync } from 'node:fs';
import { Ajv2020 } from 'ajv/dist/2020.js';

export const EVENT_SCHEMA_FILE = new URL('../../docs/event.schema.json', import.meta.url);

function compile() {
  const ajv = new Ajv2020({ strict: true, strictRequired: false, allowUnionTypes: true, allErrors: true, logger: false });
  return { ajv, check: ajv.compile(JSON.parse(readFileSync(EVENT_SCHEMA_FILE, 'utf8'))) };
}

let compiled: ReturnType<typeof compile> | undefined;

/** Throws when `event` is not a valid line of the `odek.event/v1` stream by `docs/event.schema.json`. */
export function validateWireEvent(event: unknown): void {
  compiled ??= compile();
  const { ajv, check } = compiled;
  if (check(event)) return;
  throw new Error(`invalid event: ${ajv.errorsText(check.errors, { dataVar: 'event' })}\n${JSON.stringify(event)}`);
}
