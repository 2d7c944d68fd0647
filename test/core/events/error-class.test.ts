import { describe, expect, it } from 'vitest';
import { errorClass } from '../../../core/events/error-class.ts';
import { CancelledError, DeadlineError, OdekError } from '../../../ports/errors.ts';
import { PluginError } from '../../../ports/plugin.ts';

describe('the class of a failure', () => {
  it('follows the code and never the text', () => {
    expect(errorClass(new CancelledError())).toBe('context_canceled');
    expect(errorClass(new DeadlineError('x'))).toBe('deadline_exceeded');
    expect(errorClass(new PluginError('plugin_failed', 'x'))).toBe('tool_error');
    expect(errorClass(new OdekError('disk_full', 'deadline_exceeded cancelled'))).toBe('error');
    expect(errorClass(new Error('context canceled'))).toBe('error');
    expect(errorClass(new OdekError('constructor', 'x'))).toBe('error');
    expect(errorClass(undefined)).toBe('error');
  });

  it('of a tool call is tool_error unless it was cancelled or ran out of time', () => {
    expect(errorClass(new Error('boom'), 'tool_error')).toBe('tool_error');
    expect(errorClass(new CancelledError(), 'tool_error')).toBe('context_canceled');
    expect(errorClass(new DeadlineError('x'), 'tool_error')).toBe('deadline_exceeded');
  });
});
