import { afterEach, describe, expect, it } from 'vitest';
import { live, type McpSetup, setUpMcp, textOf } from './setup.ts';

let setup: McpSetup;
afterEach(() => setup.close());

describe('smoke', () => {
  it('talks', async () => {
    setup = setUpMcp();
    const c = await setup.connect(setup.stdio());
    expect((await c.listTools(live())).tools.length).toBeGreaterThan(5);
    expect(textOf(await c.call('echo', { text: 'hi' }, { signal: live() }))).toBe('hi');
    console.log(c.report());
  });
});
