import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type InputRequest,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type McpServerFactory,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type ServerNotifier,
} from '@modelcontextprotocol/server';
import { createSdkServer } from '../../hosts/mcp/sdk-server.ts';
import {
  CHOICES_FORM,
  contentsOf,
  DEFAULTS_FORM,
  FIXED_RESULTS,
  PROMPTS,
  promptNamed,
  RESOURCES,
  said,
  TEMPLATE,
  toolNamed,
} from './fixture-content.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Handler = (context: ServerContext, given: Arguments) => Promise<CallToolResult | InputRequiredResult>;
type State = { readonly round: number };
type Form = Parameters<ServerContext['mcpReq']['elicitInput']>[0];

interface Declared {
  readonly sampling?: unknown;
  readonly elicitation?: unknown;
}

/** What the client says it can do, in the request itself. */
function declaredBy({ mcpReq }: ServerContext): Declared {
  const envelope = mcpReq.envelope as Readonly<Record<string, Declared | undefined>> | undefined;
  return envelope?.['io.modelcontextprotocol/clientCapabilities'] ?? {};
}

const PAUSE_MS = 50;

const ask = (message: string, field: string, type: 'string' | 'boolean' = 'string'): InputRequest => {
  const properties = { [field]: type === 'string' ? { type: 'string' as const } : { type: 'boolean' as const } };
  return inputRequired.elicit({ message, requestedSchema: { type: 'object', properties, required: [field] } });
};

const sample = (words: string): InputRequest =>
  inputRequired.createMessage({ messages: [{ role: 'user', content: { type: 'text', text: words } }], maxTokens: 100 });

const states = createRequestStateCodec<State>({ key: randomBytes(32) });
const stateOf = (round: number): Promise<string> => states.mint({ round });

async function withForm(context: ServerContext, message: string, requestedSchema: unknown): Promise<CallToolResult> {
  const answer = await context.mcpReq.elicitInput({ message, requestedSchema } as Form);
  return said(`action=${answer.action}, content=${JSON.stringify(answer.content ?? {})}`);
}

/** Asks once for `requests`; `then` gets the context of the call that has every answer. */
function asking(
  requests: Readonly<Record<string, InputRequest>>,
  then: (context: ServerContext) => CallToolResult,
  withState = false,
): Handler {
  return async (context) => {
    const { inputResponses } = context.mcpReq;
    const isWhole = Object.keys(requests).every((key) => inputResponse(inputResponses, key).kind !== 'missing');
    const hasState = !withState || context.mcpReq.requestState<State>() !== undefined;
    if (isWhole && hasState) return then(context);
    return inputRequired({ inputRequests: { ...requests }, ...(withState && { requestState: await stateOf(1) }) });
  };
}

/** Tools that talk with the client. */
const TALKING: Readonly<Record<string, Handler>> = {
  test_tool_with_logging: async (context) => {
    for (const step of ['started', 'going on', 'done']) {
      await context.mcpReq.log('info', step);
      await delay(PAUSE_MS);
    }
    return said('logged');
  },
  test_tool_with_progress: async (context) => {
    const progressToken = context.mcpReq._meta?.progressToken;
    for (const progress of [0, 50, 100]) {
      if (progressToken !== undefined) {
        await context.mcpReq.notify({ method: 'notifications/progress', params: { progressToken, progress, total: 100 } });
      }
      await delay(PAUSE_MS);
    }
    return said('done');
  },
  test_sampling: async (context, given) => {
    const answer = await context.mcpReq.requestSampling({
      messages: [{ role: 'user', content: { type: 'text', text: String(given.prompt) } }],
      maxTokens: 100,
    });
    return said(JSON.stringify(answer.content));
  },
  test_elicitation: (context, given) =>
    withForm(context, String(given.message), {
      type: 'object',
      properties: { username: { type: 'string' }, email: { type: 'string' } },
      required: ['username', 'email'],
    }),
  test_elicitation_sep1034_defaults: (context) => withForm(context, 'defaults', DEFAULTS_FORM),
  test_elicitation_sep1330_enums: (context) => withForm(context, 'choices', CHOICES_FORM),
  test_missing_capability: async (context) => {
    if (declaredBy(context).sampling === undefined) {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } }, 'sampling is needed');
    }
    return said('sampled');
  },
  test_logging_tool: async (context) => {
    await context.mcpReq.log('info', 'a line');
    return said('logged');
  },
  test_streaming_elicitation: asking({ user_name: ask('Who?', 'name') }, () => said('thanks')),
  test_input_required_result_elicitation: async (context) => {
    const name = acceptedContent<{ name?: unknown }>(context.mcpReq.inputResponses, 'user_name')?.name;
    if (typeof name !== 'string') return inputRequired({ inputRequests: { user_name: ask('What is your name?', 'name') } });
    return said(`Hello, ${name}!`);
  },
  test_input_required_result_sampling: asking({ capital_question: sample('What is the capital of France?') }, () => said('answered')),
  test_input_required_result_list_roots: asking({ client_roots: inputRequired.listRoots() }, () => said('roots seen')),
  test_input_required_result_request_state: asking({ confirm: ask('Please confirm', 'ok', 'boolean') }, () => said('state-ok'), true),
  test_input_required_result_tampered_state: asking({ confirm: ask('Please confirm', 'ok', 'boolean') }, () => said('state-ok'), true),
  test_input_required_result_multiple_inputs: asking(
    { user_name: ask('What is your name?', 'name'), greeting: sample('Generate a greeting'), client_roots: inputRequired.listRoots() },
    () => said('all there'),
    true,
  ),
  test_input_required_result_multi_round: async (context) => {
    const round = context.mcpReq.requestState<State>()?.round ?? 0;
    if (round === 0) return inputRequired({ inputRequests: { step1: ask('Name?', 'name') }, requestState: await stateOf(1) });
    if (round === 1) return inputRequired({ inputRequests: { step2: ask('Colour?', 'color') }, requestState: await stateOf(2) });
    return said('both rounds');
  },
  test_input_required_result_capabilities: async (context) => {
    const declared = declaredBy(context);
    if (Object.keys(context.mcpReq.inputResponses ?? {}).length > 0) return said('answered');
    return inputRequired({
      inputRequests: {
        ...(declared.sampling !== undefined && { words: sample('Some words') }),
        ...(declared.elicitation !== undefined && { name: ask('Name?', 'name') }),
      },
    });
  },
};

/** A factory of servers with everything that the scenarios ask for, and what announces their changes. */
export function createFixture(): { readonly factory: McpServerFactory; announce(notify: ServerNotifier): () => void } {
  let notifier: ServerNotifier | undefined;
  const changing: Readonly<Record<string, Handler>> = {
    test_trigger_tool_change: async () => {
      notifier?.toolsChanged();
      return said('tools changed');
    },
    test_trigger_prompt_change: async () => {
      notifier?.promptsChanged();
      return said('prompts changed');
    },
  };
  const handlers: Readonly<Record<string, Handler>> = { ...TALKING, ...changing };
  const tools = [...Object.keys(FIXED_RESULTS), ...Object.keys(handlers)].map(toolNamed);
  const factory: McpServerFactory = () => {
    const product = createSdkServer(
      { name: 'fixture', version: '1.0.0' },
      {
        capabilities: {
          tools: { listChanged: true },
          prompts: { listChanged: true },
          resources: { subscribe: true },
          logging: {},
          completions: {},
        },
        schemaOf: (name) => tools.find((tool) => tool.name === name)?.inputSchema,
        requestState: { verify: states.verify },
      },
    );
    const { server } = product;
    server.setRequestHandler('tools/list', () => ({ tools }));
    server.setRequestHandler('tools/call', async ({ params }, context) => {
      const fixed = FIXED_RESULTS[params.name];
      if (fixed !== undefined) return fixed;
      const handler = handlers[params.name];
      if (handler === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown tool');
      return handler(context, params.arguments ?? {});
    });
    server.setRequestHandler('resources/list', () => ({ resources: [...RESOURCES] }));
    server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [{ uriTemplate: TEMPLATE, name: 'template' }] }));
    server.setRequestHandler('resources/read', ({ params }) => {
      const contents = contentsOf(params.uri);
      if (contents === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Resource not found', { uri: params.uri });
      return { contents: [contents] };
    });
    server.setRequestHandler('resources/subscribe', () => ({}));
    server.setRequestHandler('resources/unsubscribe', () => ({}));
    server.setRequestHandler('prompts/list', () => ({ prompts: [...PROMPTS] }));
    server.setRequestHandler('prompts/get', ({ params }, context) => {
      if (params.name === 'test_input_required_result_prompt') {
        const given = acceptedContent(context.mcpReq.inputResponses, 'user_context');
        if (given === undefined) return inputRequired({ inputRequests: { user_context: ask('What context?', 'context') } });
        return { messages: [{ role: 'user', content: { type: 'text', text: JSON.stringify(given) } }] };
      }
      const prompt = promptNamed(params.name, params.arguments ?? {});
      if (prompt === undefined) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'unknown prompt');
      return prompt;
    });
    server.setRequestHandler('completion/complete', () => ({ completion: { values: ['paris', 'park'], total: 2, hasMore: false } }));
    return product;
  };
  return {
    factory,
    announce: (notify) => {
      notifier = notify;
      return () => {
        notifier = undefined;
      };
    },
  };
}
