/**
 * Names of OpenTelemetry's conventions for generative AI and MCP, and odek's own where there are none.
 * They are copied: none of the first two is stable yet, so a package would change them under us.
 */
export const ATTRIBUTE = {
  operation: 'gen_ai.operation.name',
  provider: 'gen_ai.provider.name',
  model: 'gen_ai.request.model',
  agent: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  tokenType: 'gen_ai.token.type',
  tool: 'gen_ai.tool.name',
  toolCall: 'gen_ai.tool.call.id',
  toolType: 'gen_ai.tool.type',
  mcpMethod: 'mcp.method.name',
  error: 'error.type',
  run: 'odek.run.id',
  iteration: 'odek.iteration',
  task: 'odek.task.id',
  timeToFirstToken: 'odek.chat.time_to_first_token',
  resultBytes: 'odek.tool.result_bytes',
  interrupted: 'odek.interrupted',
} as const;

export const OPERATION = { agent: 'invoke_agent', chat: 'chat', tool: 'execute_tool' } as const;

export const METRIC = {
  tokens: 'gen_ai.client.token.usage',
  duration: 'gen_ai.client.operation.duration',
} as const;

/** odek's provider ids that the conventions know under another name. */
const PROVIDERS: Readonly<Record<string, string>> = { gemini: 'gcp.gemini', xai: 'x_ai', bedrock: 'aws.bedrock', mistral: 'mistral_ai' };

export function providerName(id: string): string {
  return Object.hasOwn(PROVIDERS, id) ? (PROVIDERS[id] ?? id) : id;
}

/** Tools of MCP servers are called `<server>__<tool>`; no other tool's name has two underscores. */
export function isMcpTool(tool: string): boolean {
  return tool.includes('__');
}
