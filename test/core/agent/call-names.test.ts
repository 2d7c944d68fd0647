import { expect, it } from 'vitest';
import { withSafeNames } from '../../../core/agent/call-names.ts';
import { createRedactor } from '../../../core/redact/redactor.ts';

const SECRET = 'canary-0123456789abcdef';
const tools = { get: (name: string) => (name === 'read.file' ? ({} as never) : undefined) };
const named = (name: string) => withSafeNames([{ id: '1', name, arguments: '{}' }], tools, createRedactor([SECRET]))[0]?.name;

it('keeps the name of a tool that exists, and any other that services accept', () => {
  expect(named('read.file')).toBe('read.file');
  expect(named('no_such-tool9')).toBe('no_such-tool9');
});

it('makes a name that services accept of one that they refuse', () => {
  expect(named('functions.read file\u001b[2J')).toBe('functions_read_file__2J');
  expect(named('x'.repeat(500))).toHaveLength(64);
});

it('hides a secret in a name', () => {
  expect(named(`tool-${SECRET}`)).toBe('tool-_REDACTED_');
});
