export interface CataloguedTool {
  readonly name: string;
  /** The plugin or server that brings it. */
  readonly owner: string;
  readonly description: string;
}

/** A server whose tools may be used. */
export interface CataloguedServer {
  readonly name: string;
  /** `connected`, `failed`, `not_approved`, … */
  readonly state: string;
  /** Its command line or address, with secrets hidden. */
  readonly target: string;
  readonly tools: number;
}

export interface Catalogue {
  /** In name order. */
  readonly tools: readonly CataloguedTool[];
  readonly filter: {
    /** Absent: every tool. */
    readonly enabled?: readonly string[];
    readonly disabled: readonly string[];
  };
  readonly servers: readonly CataloguedServer[];
}

/**
 * The tools there are (DECISIONS 19).
 *
 * Contract (the `tool-catalogue` suite):
 * - `describe` gives the tools that can be called at that moment, in name order, each with its owner.
 * - It gives the operator's filter as it is configured.
 */
export interface ToolCatalogue {
  describe(): Catalogue;
}
