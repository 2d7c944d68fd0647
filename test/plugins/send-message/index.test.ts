import { describe, expect, it } from 'vitest';
import { type OutgoingMessage, sendMessagePlugin } from '../../../plugins/send-message/index.ts';
import type { ToolExecution, ToolSpec } from '../../../ports/plugin.ts';

const MAX_DEFINITION_BYTES = 600;
const exec = { signal: new AbortController().signal } as ToolExecution;

async function registered(sent: OutgoingMessage[]): Promise<ToolSpec> {
  const specs: ToolSpec[] = [];
  const plugin = sendMessagePlugin(async (message) => {
    sent.push(message);
    return 'sent';
  });
  const register = (spec: ToolSpec) => {
    specs.push(spec);
    return () => {};
  };
  await plugin.apply({ tools: { register } } as never, {});
  const [spec] = specs;
  if (spec === undefined || specs.length > 1) throw new Error(`${specs.length} tools`);
  return spec;
}

describe('send_message', () => {
  it('hands text, file and buttons to the surface', async () => {
    const sent: OutgoingMessage[] = [];
    const spec = await registered(sent);
    const message = { text: 'Half done.', buttons: [{ text: 'Go on', data: 'cb:go' }] };
    expect(await spec.execute(message as never, exec)).toBe('sent');
    expect(sent).toEqual([message]);
    expect(spec.effects?.({ file: 'a.txt' } as never)).toEqual({ reads: ['a.txt'] });
  });

  it.each([
    [{}, 'there is nothing to send'],
    [{ text: 'x', buttons: [{ text: 'Yes', data: 'apr:0123456789abcdef' }] }, 'must be "cb:"'],
    [{ text: 'x', buttons: [{ text: 'Yes', data: 'cb:' }] }, 'must be "cb:"'],
    [{ text: 'x', buttons: [{ text: 'Yes', data: `cb:${'x'.repeat(62)}` }] }, 'must be "cb:"'],
    [{ text: 'x', buttons: [{ text: 'Yes', data: 'cb:a b' }] }, 'must be "cb:"'],
  ])('refuses %j and says how to do it', async (message, text) => {
    const sent: OutgoingMessage[] = [];
    const spec = await registered(sent);
    await expect(spec.execute(message as never, exec)).rejects.toThrow(text);
    expect(sent).toEqual([]);
  });

  it('has a definition of a size that every request can bear', async () => {
    const { name, description, parameters } = await registered([]);
    expect(Buffer.byteLength(JSON.stringify({ name, description, parameters }))).toBeLessThanOrEqual(MAX_DEFINITION_BYTES);
  });
});
