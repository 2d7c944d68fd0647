const NAMES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'] as const;

/** The environment variable that names a proxy, as it is spelt there; undefined when there is none. `NO_PROXY` changes nothing. */
export function proxyVariable(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const spellings = NAMES.flatMap((name) => [name, name.toLowerCase()]);
  return spellings.find((name) => (environment[name] ?? '').trim() !== '');
}
