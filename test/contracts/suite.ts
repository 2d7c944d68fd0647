/**
 * Contract suites: plain data that needs no test runner (DECISIONS 32). A suite holds one case for
 * each sentence of its port's contract; a case throws when the subject breaks its sentence.
 */
export interface ContractCase<Harness> {
  /** `<port>/<short-name>`, unique. */
  readonly id: string;
  /** The sentence of the port's contract that this case proves. */
  readonly sentence: string;
  run(harness: Harness): Promise<void>;
}

/** `Harness` is what the author of an adapter supplies: how to make a subject, and the fixtures it needs. */
export interface ContractSuite<Harness> {
  readonly port: string;
  readonly cases: readonly ContractCase<Harness>[];
}

/** A deliberately broken adapter, and the one case that must catch it. */
export interface BrokenAdapter<Harness> {
  readonly name: string;
  readonly caughtBy: string;
  readonly harness: Harness;
}
