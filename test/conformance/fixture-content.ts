/** What the tools, prompts and resources of the conformance suite hold. */
import type { CallToolResult, GetPromptResult, Prompt, Resource, Tool } from '@modelcontextprotocol/server';

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';

const text = (value: string) => ({ type: 'text' as const, text: value });

export const said = (value: string): CallToolResult => ({ content: [text(value)] });

const NO_ARGUMENTS: Tool['inputSchema'] = { type: 'object' };

/** Tools whose result is always the same. */
export const FIXED_RESULTS: Readonly<Record<string, CallToolResult>> = {
  test_simple_text: said('plain text'),
  test_image_content: { content: [{ type: 'image', data: PIXEL, mimeType: 'image/png' }] },
  test_audio_content: { content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] },
  test_embedded_resource: {
    content: [{ type: 'resource', resource: { uri: 'test://embedded-resource', mimeType: 'text/plain', text: 'embedded' } }],
  },
  test_multiple_content_types: {
    content: [
      text('three kinds'),
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'resource', resource: { uri: 'test://mixed-content-resource', mimeType: 'application/json', text: '{"value":123}' } },
    ],
  },
  test_error_handling: { ...said('this tool always fails'), isError: true },
  json_schema_2020_12_tool: said('checked'),
  test_header_parameter: said('the header agreed'),
};

const SCHEMA_2020_12 = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
} as const;

/** Schemas of the tools that take something. */
const SCHEMAS: Readonly<Record<string, unknown>> = {
  json_schema_2020_12_tool: SCHEMA_2020_12,
  test_sampling: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
  test_elicitation: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
  test_header_parameter: {
    type: 'object',
    properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, query: { type: 'string' } },
    required: ['region'],
  },
};

export function toolNamed(name: string): Tool {
  return { name, description: `Conformance fixture ${name}`, inputSchema: (SCHEMAS[name] ?? NO_ARGUMENTS) as Tool['inputSchema'] };
}

export const RESOURCES: readonly Resource[] = [
  { uri: 'test://static-text', name: 'static text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched', mimeType: 'text/plain' },
];

export const TEMPLATE = 'test://template/{id}/data';

/** What a resource holds; undefined where there is none. */
export function contentsOf(uri: string) {
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1];
  if (id !== undefined) return { uri, mimeType: 'application/json', text: JSON.stringify({ id }) };
  const resource = RESOURCES.find((each) => each.uri === uri);
  if (resource === undefined) return undefined;
  return resource.mimeType === 'image/png' ? { uri, mimeType: 'image/png', blob: PIXEL } : { uri, mimeType: 'text/plain', text: 'static' };
}

export const PROMPTS: readonly Prompt[] = [
  { name: 'test_simple_prompt', description: 'Says one thing' },
  {
    name: 'test_prompt_with_arguments',
    description: 'Says what it is given',
    arguments: [
      { name: 'arg1', required: true },
      { name: 'arg2', required: true },
    ],
  },
  { name: 'test_prompt_with_embedded_resource', description: 'Holds a resource', arguments: [{ name: 'resourceUri', required: true }] },
  { name: 'test_prompt_with_image', description: 'Holds an image' },
  { name: 'test_input_required_result_prompt', description: 'Asks first' },
];

/** A prompt with its arguments; undefined where there is none. */
export function promptNamed(name: string, given: Readonly<Record<string, string>>): GetPromptResult | undefined {
  const user = (content: GetPromptResult['messages'][number]['content']) => ({ role: 'user' as const, content });
  switch (name) {
    case 'test_simple_prompt':
      return { messages: [user(text('a simple prompt'))] };
    case 'test_prompt_with_arguments':
      return { messages: [user(text(`${given.arg1} and ${given.arg2}`))] };
    case 'test_prompt_with_embedded_resource':
      return {
        messages: [
          user({ type: 'resource', resource: { uri: given.resourceUri ?? 'test://none', mimeType: 'text/plain', text: 'embedded' } }),
          user(text('read it')),
        ],
      };
    case 'test_prompt_with_image':
      return { messages: [user({ type: 'image', data: PIXEL, mimeType: 'image/png' }), user(text('look at it'))] };
    default:
      return undefined;
  }
}

/** The form with a default for each kind of field. */
export const DEFAULTS_FORM = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
} as const;

const titled = (values: readonly string[], word: string) => values.map((value, index) => ({ const: value, title: `${word} ${index + 1}` }));

/** The form with each way to offer a choice. */
export const CHOICES_FORM = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
    titledSingle: { type: 'string', oneOf: titled(['value1', 'value2', 'value3'], 'Option') },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option 1', 'Option 2', 'Option 3'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: ['option1', 'option2', 'option3'] } },
    titledMulti: { type: 'array', items: { anyOf: titled(['value1', 'value2', 'value3'], 'Choice') } },
  },
} as const;
