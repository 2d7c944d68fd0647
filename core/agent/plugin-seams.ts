/** A validated call as listeners see it. */
export interface PreExecuteCall {
  readonly name: string;
  readonly callId: string;
  readonly input: unknown;
  /** Whether somebody can be asked. */
  readonly mode: 'interactive' | 'headless';
  readonly workspace: string;
  readonly model: string;
}

/** What all listeners together make of a call. Texts are theirs and not trusted. */
export type PreExecuteVerdict =
  | { readonly kind: 'deny'; readonly by: string; readonly reason: string }
  | {
      readonly kind: 'go';
      /** The last revision, a JSON object. */
      readonly revision?: { readonly by: string; readonly input: Readonly<Record<string, unknown>> };
      readonly ask?: { readonly by: string; readonly reason: string };
      readonly notes: readonly { readonly by: string; readonly text: string }[];
    };

/** Asks every listener. A rejection fails the call closed. */
export type PreExecute = (call: PreExecuteCall, signal: AbortSignal) => Promise<PreExecuteVerdict>;

/** Facts of a turn that a section may ask for. */
export interface PromptFacts {
  readonly model: string;
  readonly cwd: string;
}

/** What plugins add to the prompt of a turn. */
export interface PluginPrompt {
  /** Waits, within a bound, for plugins that are being started. Rejects only when `signal` fires. */
  ready(signal: AbortSignal): Promise<void>;
  /** All sections as they are now, attributed plain text; undefined for none. */
  render(facts: PromptFacts): string | undefined;
}
