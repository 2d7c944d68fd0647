/** What a plugin hands over is checked member by member, and what is wrong is named. */
export type Fields = Readonly<Record<string, unknown>>;

/** Throws unless `value` is an object with no members but those. */
export function fieldsOf(value: unknown, what: string, known: readonly string[]): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new TypeError(`${what} must be an object`);
  const foreign = Object.keys(value).find((name) => !known.includes(name) && (value as Fields)[name] !== undefined);
  if (foreign !== undefined) throw new TypeError(`${what} cannot have "${foreign}" here`);
  return value as Fields;
}

export function textOf(value: unknown, what: string, { max, min = 0 }: { readonly max: number; readonly min?: number }): string {
  if (typeof value !== 'string') throw new TypeError(`${what} must be text`);
  const bytes = Buffer.byteLength(value);
  if (bytes < min || bytes > max) throw new TypeError(`${what} has ${bytes} bytes, not ${min} to ${max}`);
  return value;
}

/** A copy as JSON would make it, so that nothing of the plugin's own stays in it. */
export function jsonOf(value: unknown, what: string, max: number): unknown {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    throw new TypeError(`${what} cannot be written as JSON`, { cause });
  }
  if (text === undefined) throw new TypeError(`${what} cannot be written as JSON`);
  const bytes = Buffer.byteLength(text);
  if (bytes > max) throw new TypeError(`${what} has ${bytes} bytes, over the limit of ${max}`);
  return JSON.parse(text);
}

export function functionOf<Kind>(value: unknown, what: string): Kind {
  if (typeof value !== 'function') throw new TypeError(`${what} must be a function`);
  return value as Kind;
}

export function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
