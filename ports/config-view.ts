/**
 * The resolved configuration as it may be shown (DECISIONS 19).
 *
 * Contract (the `config-view` suite):
 * - `view` gives values by dotted key, all of them or those of one section.
 * - No secret is in it, whether under a key of its own or within another value.
 * - A section that does not exist gives `undefined`.
 */
export interface ConfigView {
  /** `section` is a key, or what comes before its dots: `dangerous`, `tools.disabled`. */
  view(section?: string): Readonly<Record<string, unknown>> | undefined;
}
