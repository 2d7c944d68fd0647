/** Prefix of a model's name → tokens of its context window. The first match counts, so longer prefixes come first. */
const CONTEXT_WINDOWS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['deepseek-v4', 1_000_000],
  ['deepseek-flash', 1_000_000],
  ['deepseek-pro', 1_000_000],
  ['deepseek-', 128_000],
  ['glm-5.3', 1_000_000],
  ['glm-5.2', 1_000_000],
  ['glm-5-turbo', 200_000],
  ['glm-', 128_000],
  ['kimi-', 256_000],
  ['k3-256k', 256_000],
  ['k3', 1_000_000],
  ['gpt-6', 1_050_000],
  ['gpt-5.6', 1_050_000],
  ['gpt-5.5', 1_050_000],
  ['gpt-5.4-mini', 400_000],
  ['gpt-5.4-nano', 400_000],
  ['gpt-5.4', 1_050_000],
  ['gpt-5', 400_000],
  ['gpt-4.1', 1_050_000],
  ['gpt-4o', 128_000],
  ['gpt-4-turbo', 128_000],
  ['o4', 200_000],
  ['o3', 200_000],
  ['o1', 200_000],
  ['claude-3', 200_000],
  ['claude-opus-4-6', 1_000_000],
  ['claude-opus-4-7', 1_000_000],
  ['claude-opus-4-8', 1_000_000],
  ['claude-sonnet-4-6', 1_000_000],
  ['claude-opus-4', 200_000],
  ['claude-sonnet-4', 200_000],
  ['claude-haiku-4', 200_000],
  ['gemini-1.5-pro', 2_097_152],
  ['gemini-1.5', 1_048_576],
  ['gemini-2', 1_048_576],
  ['gemini-3', 1_048_576],
];

/** Prefix → the longest answer in tokens, for the format that has to name one. */
const OUTPUT_CAPS: readonly (readonly [prefix: string, tokens: number])[] = [
  ['claude-3-5', 8_192],
  ['claude-3-7', 64_000],
  ['claude-3', 4_096],
  ['claude-opus-4-0', 32_000],
  ['claude-opus-4-1', 32_000],
  ['claude-opus-4-2', 32_000],
  ['claude-', 64_000],
];

/** Tokens of a model's context window, or undefined when it is not known. A vendor prefix (`openai/…`) is ignored. */
export function contextWindowOf(model: string): number | undefined {
  return lookUp(CONTEXT_WINDOWS, model);
}

/** Tokens of a model's longest answer, or undefined when it is not known. */
export function outputCapOf(model: string): number | undefined {
  return lookUp(OUTPUT_CAPS, model);
}

function lookUp(table: readonly (readonly [string, number])[], model: string): number | undefined {
  const name = model.slice(model.lastIndexOf('/') + 1).toLowerCase();
  return table.find(([prefix]) => name.startsWith(prefix))?.[1];
}
