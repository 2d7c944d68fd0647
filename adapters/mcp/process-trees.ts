/** A child's processes: those of the group it leads, and those that carry its mark in their environment. */
export interface ProcessTree {
  readonly pid: number;
  readonly mark: string;
}

/** What a server's process needs of the system, given by the host: all of it is synchronous. */
export interface ProcessTrees {
  /** A fresh mark, and the variables that carry it to everything the child starts. */
  mark(): { readonly mark: string; readonly variables: Readonly<Record<string, string>> };
  /** Notes a child, so that it ends with this process, and the next start ends it if that could not be. */
  add(tree: ProcessTree): void;
  remove(tree: ProcessTree): void;
  /** Kills what is left of the tree. `withGroup: false` where the leader has been gone for long. */
  kill(tree: ProcessTree, options: { readonly withGroup: boolean }): void;
}

/** Everything odek knows to hide. `reach`: no secret spans more UTF-16 units. */
export interface Redaction {
  text(text: string): string;
  readonly reach: number;
}
