/** Says what is wrong with a value, with its place; undefined when nothing is. */
export type Shape = (value: unknown, at: string) => string | undefined;

export const anything: Shape = () => undefined;

export function text(max: number, min = 0): Shape {
  return (value, at) =>
    typeof value !== 'string'
      ? `${at} is no text`
      : value.length < min || value.length > max
        ? `${at} has ${value.length} characters, not ${min} to ${max}`
        : undefined;
}

export const flag: Shape = (value, at) => (typeof value === 'boolean' ? undefined : `${at} is neither true nor false`);

export function integer(min: number, max: number): Shape {
  return (value, at) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? undefined
      : `${at} is no integer of ${min} to ${max}`;
}

export function oneOf(...values: readonly string[]): Shape {
  return (value, at) => (values.includes(value as string) ? undefined : `${at} is none of ${values.join(', ')}`);
}

export function matching(pattern: RegExp, what: string): Shape {
  return (value, at) => (typeof value === 'string' && pattern.test(value) ? undefined : `${at} is no ${what}`);
}

export function listOf(each: Shape, max: number): Shape {
  return (value, at) => {
    if (!Array.isArray(value)) return `${at} is no list`;
    if (value.length > max) return `${at} has ${value.length} elements, over ${max}`;
    return firstFault(value.map((one, index) => () => each(one, `${at}[${index}]`)));
  };
}

export const anyObject: Shape = (value, at) => (isRecord(value) ? undefined : `${at} is no object`);

export function recordOf(each: Shape, max: number): Shape {
  return (value, at) => {
    if (!isRecord(value)) return `${at} is no object`;
    const entries = Object.entries(value);
    if (entries.length > max) return `${at} has ${entries.length} members, over ${max}`;
    return firstFault(
      entries.map(
        ([name, one]) =>
          () =>
            each(one, `${at}.${name.slice(0, 80)}`),
      ),
    );
  };
}

type Fields = Readonly<Record<string, Shape>>;

/** An object of exactly these members, those of `optional` present or not. */
export function closed(fields: Fields, optional: Fields = {}): Shape {
  const known = tolerant(fields, optional);
  return (value, at) => {
    const fault = known(value, at);
    if (fault !== undefined) return fault;
    const foreign = Object.keys(value as object).find((name) => !Object.hasOwn(fields, name) && !Object.hasOwn(optional, name));
    return foreign === undefined ? undefined : `${at} has an unknown member "${foreign.slice(0, 80)}"`;
  };
}

/** An object of at least these members. */
export function tolerant(fields: Fields, optional: Fields = {}): Shape {
  return (value, at) => {
    if (!isRecord(value)) return `${at} is no object`;
    const checks = [
      ...Object.entries(fields).map(
        ([name, shape]) =>
          () =>
            Object.hasOwn(value, name) ? shape(value[name], `${at}.${name}`) : `${at}.${name} is missing`,
      ),
      ...Object.entries(optional).map(
        ([name, shape]) =>
          () =>
            Object.hasOwn(value, name) ? shape(value[name], `${at}.${name}`) : undefined,
      ),
    ];
    return firstFault(checks);
  };
}

/** Objects that the text of one member tells apart. */
export function variants(member: string, shapes: Fields): Shape {
  return (value, at) => {
    if (!isRecord(value)) return `${at} is no object`;
    const name = value[member];
    const shape = typeof name === 'string' && Object.hasOwn(shapes, name) ? shapes[name] : undefined;
    return shape === undefined ? `${at}.${member} is none of ${Object.keys(shapes).join(', ')}` : shape(value, at);
  };
}

function firstFault(checks: readonly (() => string | undefined)[]): string | undefined {
  for (const check of checks) {
    const fault = check();
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
