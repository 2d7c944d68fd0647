import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ServerReply } from '../../fakes/openai-server.ts';
import { answer, call, DONE, entry, lastResults, nothingRuns, operator, pidsOf, tool, toolsTold } from '../support/mcp.ts';
import { until } from '../support/processes.ts';
import { onStage, PATIENT } from '../support/stage.ts';

describe.concurrent('tools that change in the middle of a run', PATIENT, () => {
  const become = (tools: readonly object[]): ServerReply => call('small__become', { tools });
  const fixed = [tool('become', 'Changes the tools.', { tools: { type: 'array' } }), tool('pause')];

  it('are there at the next request where nothing has to be approved', () =>
    onStage(
      [become([...fixed, tool('fresh')]), call('small__pause'), call('small__fresh', { a: 1 }), call('small__old'), DONE],
      async (stage) => {
        const given = await entry(stage, [...fixed, tool('old')]);
        await operator(stage, { small: { ...given, auto_approve: true } });
        const ended = await stage.run(['run', 'change']);
        expect(ended.code).toBe(0);
        expect(toolsTold(stage.server, 0)).toEqual(['small__become', 'small__old', 'small__pause']);
        expect(toolsTold(stage.server)).toEqual(['small__become', 'small__fresh', 'small__pause']);
        const [, , fresh, old] = lastResults(stage.server);
        expect(fresh).toContain('fresh says {"a":1}');
        expect(old).toContain('small__old');
        expect(ended.stderr).toContain('no longer offers its tool old');
      },
    ));

  it('are withdrawn where they would have to be approved and nobody can be asked', () =>
    onStage(
      [become([...fixed, tool('old', 'Now it means something else.')]), call('small__pause'), call('small__old'), DONE],
      async (stage) => {
        await operator(stage, { small: await entry(stage, [...fixed, tool('old')]) });
        await stage.terminal(['mcp', 'approve', 'small'], answer('Approve all 3?', 'y'));
        const ended = await stage.run(['run', 'change']);
        expect(ended.code).toBe(0);
        expect(ended.stderr).toContain('describes in another way its tool old');
        expect(ended.stderr).toContain('not approved, and left out: old');
        expect(toolsTold(stage.server)).toEqual(['small__become', 'small__pause']);
        const [, , old = ''] = lastResults(stage.server);
        expect(old).toMatch(/^error|error:/);
        expect(old).not.toContain('old says');
      },
    ));
});

describe.concurrent('a person in the middle of a run', PATIENT, () => {
  it('is asked about a tool that came, and the run goes on with it', () => {
    const come = [tool('become', 'Changes the tools.', { tools: { type: 'array' } }), tool('pause'), tool('fresh', 'It is new here.')];
    const script = [call('small__become', { tools: come }), call('small__pause'), call('small__pause'), call('small__fresh'), DONE];
    return onStage(script, async (stage) => {
      await operator(stage, { small: await entry(stage, come.slice(0, 2)) });
      const seen = await stage.terminal(
        ['run', 'change'],
        [...answer('Approve all 2?', 'y'), { wait: 'It is new here.' }, ...answer('Approve it? [y/N]', 'y')],
      );
      expect(seen.exit).toBe(0);
      expect(toolsTold(stage.server)).toEqual(['small__become', 'small__fresh', 'small__pause']);
      expect(lastResults(stage.server).at(-1)).toContain('fresh says');
    });
  });
});

describe.concurrent('a server that outlives its odek', PATIENT, () => {
  it.each(['SIGKILL', 'SIGTERM'] as const)('is gone after the next start at the latest (%s)', (signal) =>
    onStage([DONE], async (stage) => {
      const { args = [], ...given } = (await entry(stage)) as { command: string; args?: readonly string[] };
      await operator(stage, { stuck: { ...given, args: [...args, 'stubborn'], auto_approve: true } });
      const running = stage.start(['run', 'greet']);
      await until('the server runs', () => pidsOf(stage).length === 1);
      running.child.kill(signal);
      await running.ended;
      await operator(stage, { small: { ...given, args, auto_approve: true } });
      expect((await stage.run(['mcp', 'probe', 'small'])).code).toBe(0);
      expect(pidsOf(stage)).toHaveLength(2);
      await nothingRuns(stage);
    }),
  );
});

describe.concurrent('odek repl', PATIENT, () => {
  it('asks about a change between turns once the input is sent, and shows above it what the server says', () => {
    const later = tool('later', 'Changes the tools.', { tools: { type: 'array' } });
    const now = [later, tool('pause'), tool('fresh', 'It is new here.')];
    const script = [call('small__later', { tools: now }), DONE, call('small__pause'), call('small__fresh'), DONE];
    return onStage(script, async (stage) => {
      await operator(stage, { small: await entry(stage, now.slice(0, 2)) });
      const seen = await stage.terminal(
        ['repl'],
        [
          ...answer('Approve all 2?', 'y'),
          ...answer('› ', 'first'),
          { wait: DONE.text as string },
          { wait: '› ' },
          { send: 'y' },
          { wait: '› y' },
          { touch: join(stage.work, '..', 'now') },
          { wait: '[small] the time has come' },
          { wait: 'you are asked once your input is sent' },
          { wait: '› y' },
          // An answer to the question, if it were asked already.
          { send: '\r' },
          { wait: 'It is new here.' },
          ...answer('Approve it? [y/N]', 'y'),
          { wait: DONE.text as string },
          { wait: '› ' },
          { send: '\u0004' },
        ],
      );
      expect(seen.exit).toBe(0);
      expect(seen.raw).toContain('[small] the small server is up');
      const inputs = stage.server.requests.at(-1)?.body.messages.filter(({ role }: { role: string }) => role === 'user');
      expect(inputs.map(({ content }: { content: string }) => content)).toEqual(['first', 'y']);
      expect(lastResults(stage.server).at(-1)).toContain('fresh says');
    });
  });

  it('leaves nothing behind when Ctrl-C ends its start', () =>
    onStage([], async (stage) => {
      const { args = [], ...given } = (await entry(stage)) as { command: string; args?: readonly string[] };
      await operator(stage, { slow: { ...given, args: [...args, 'silent'], auto_approve: true } });
      const seen = await stage.terminal(['repl'], [{ pause: 2 }, { send: '\u0003' }]);
      expect(seen.exit).toBe(130);
      expect(pidsOf(stage)).toHaveLength(1);
      await nothingRuns(stage);
    }));
});
