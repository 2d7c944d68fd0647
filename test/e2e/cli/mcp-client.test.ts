import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  APPROVE,
  answer,
  call,
  DONE,
  entry,
  lastResults,
  nothingRuns,
  operator,
  pidsOf,
  project,
  SERVER,
  START,
  tool,
  toolsTold,
} from '../support/mcp.ts';
import { onStage, PATIENT } from '../support/stage.ts';

describe.concurrent('a server of a project', PATIENT, () => {
  it('is not started without approval where nobody can be asked', () =>
    onStage([DONE], async (stage) => {
      await project(stage, { small: await entry(stage) });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain('"small" is not approved, and nothing was started');
      expect(ended.stderr).toContain('odek mcp approve small');
      expect(pidsOf(stage)).toEqual([]);
      expect(stage.server.requests).toEqual([]);
    }));

  it("keeps the operator's servers from being started while it is not approved", () =>
    onStage([DONE], async (stage) => {
      await operator(stage, { mine: { ...(await entry(stage)), auto_approve: true } });
      await project(stage, { small: await entry(stage) });
      expect((await stage.run(['run', 'greet'])).code).toBe(3);
      expect(pidsOf(stage)).toEqual([]);
    }));

  it('is started for this once with ODEK_APPROVE_MCP=1, its tool is called, and nothing of it is left', () =>
    onStage([call('small__greet', { whom: 'you' }), DONE], async (stage) => {
      await project(stage, { small: await entry(stage) });
      const ended = await stage.run(['run', 'greet'], { env: APPROVE });
      expect(ended).toMatchObject({ code: 0, stdout: 'It is done.\n' });
      expect(toolsTold(stage.server)).toEqual(['small__count', 'small__greet']);
      expect(lastResults(stage.server)).toEqual([expect.stringContaining('greet says {"whom":"you"}')]);
      expect(ended.stderr).toContain('[small] the small server is up');
      await nothingRuns(stage);
      expect(existsSync(join(stage.state, 'mcp_approvals.json'))).toBe(false);
      expect(existsSync(join(stage.state, 'mcp_tool_approvals.json'))).toBe(false);
    }));

  it('is asked about at the terminal, with everything that is started and every tool, and remembered', () =>
    onStage([DONE, DONE], async (stage) => {
      const given = { ...(await entry(stage)), env: { LEVEL: 'debug' } };
      await project(stage, { small: given });
      const seen = await stage.terminal(
        ['run', 'greet'],
        [...answer(START, 'y'), ...answer('Approve all 2? [y/N, or numbers such as 1,3-5]', '2')],
      );
      expect(seen.exit).toBe(0);
      for (const text of [process.execPath, SERVER, '"LEVEL" = "debug"', '1. greet', '2. count', 'schema: sha256:']) {
        expect(seen.raw.replaceAll('\r\n', '')).toContain(text);
      }
      expect(toolsTold(stage.server)).toEqual(['small__count']);
      for (const name of ['mcp_approvals.json', 'mcp_tool_approvals.json']) {
        expect((await stat(join(stage.state, name))).mode & 0o777).toBe(0o600);
      }
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(0);
      expect(toolsTold(stage.server)).toEqual(['small__count']);
      expect(ended.stderr).toContain('not approved, and left out: greet');
      await nothingRuns(stage);
    }));

  it('ends the start when a person says no, before anything runs', () =>
    onStage([DONE], async (stage) => {
      await project(stage, { small: await entry(stage) });
      const seen = await stage.terminal(['run', 'greet'], answer(START, 'n'));
      expect(seen.exit).toBe(3);
      expect(seen.raw).toContain('is not approved');
      expect(pidsOf(stage)).toEqual([]);
    }));

  it.each([
    ['argument', { args: [SERVER, 'TOOLS', 'PIDS', 'other'] }],
    ['variable', { env: { LEVEL: 'debug' } }],
    ['limit', { timeout_seconds: 60 }],
  ])('has to be approved again with another %s', (_, change) =>
    onStage([DONE], async (stage) => {
      const given = await entry(stage);
      await project(stage, { small: given });
      await stage.terminal(['mcp', 'approve'], [...answer(START, 'y'), ...answer('Approve all 2?', 'y')]);
      expect((await stage.run(['run', 'greet'])).code).toBe(0);
      await project(stage, { small: { ...given, ...change } });
      expect((await stage.run(['run', 'greet'])).code).toBe(3);
    }),
  );

  it('does not inherit auto_approve from a server of the operator whose name it takes', () =>
    onStage([DONE], async (stage) => {
      const given = await entry(stage);
      await operator(stage, { small: { ...given, auto_approve: true } });
      await project(stage, { small: { ...given, env: { LEVEL: 'debug' } } });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain("mcp_servers.small replaces the operator's server");
    }));

  it('cannot bring its own auto_approve', () =>
    onStage([DONE], async (stage) => {
      await project(stage, { small: { ...(await entry(stage)), auto_approve: true } });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain('mcp_servers.small.auto_approve is ignored');
    }));
});

describe.concurrent('a server of the operator', PATIENT, () => {
  it('starts unasked, while each of its tools waits for an approval', () =>
    onStage([DONE, DONE], async (stage) => {
      await operator(stage, { small: await entry(stage) });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(0);
      expect(toolsTold(stage.server)).toEqual([]);
      expect(ended.stderr).toContain('MCP server "small": not approved, and left out: greet, count; run odek mcp approve small');
      const seen = await stage.terminal(['run', 'greet'], answer('Approve all 2?', 'y'));
      expect(seen.exit).toBe(0);
      expect(toolsTold(stage.server)).toEqual(['small__count', 'small__greet']);
    }));

  it('with auto_approve needs nobody', () =>
    onStage([call('small__greet'), DONE], async (stage) => {
      await operator(stage, { small: { ...(await entry(stage)), auto_approve: true } });
      expect((await stage.run(['run', 'greet'])).code).toBe(0);
      expect(lastResults(stage.server)).toEqual([expect.stringContaining('greet says {}')]);
    }));

  it('is asked about at every call where the operator says so', () =>
    onStage([call('small__greet'), DONE], async (stage) => {
      await operator(stage, { small: { ...(await entry(stage)), auto_approve: true, approve: 'call' } });
      expect((await stage.run(['run', 'greet'])).code).toBe(0);
      expect(lastResults(stage.server)).toEqual([expect.stringContaining('operation denied')]);
    }));

  it('shows what changed when a tool is described in another way, and leaves it out until it is approved', () =>
    onStage([DONE, DONE, DONE], async (stage) => {
      const given = await entry(stage, [tool('greet', 'Says hello to a friend.')]);
      await operator(stage, { small: given });
      await stage.terminal(['run', 'greet'], answer('Approve it? [y/N]', 'y'));
      await entry(stage, [tool('greet', 'Says hello to an enemy.')]);
      const ended = await stage.run(['run', 'greet']);
      expect(ended.stderr).toContain('left out: greet');
      expect(toolsTold(stage.server)).toEqual([]);
      const seen = await stage.terminal(['run', 'greet'], answer('Approve it? [y/N]', 'y'));
      expect(seen.raw).toContain('changed since it was approved on');
      expect(seen.raw).toMatch(/- .*friend/);
      expect(seen.raw).toMatch(/\+ .*enemy/);
      expect(toolsTold(stage.server)).toEqual(['small__greet']);
    }));

  it('keeps out what tools.disabled names, and nobody is asked about that', () =>
    onStage([DONE], async (stage) => {
      await operator(stage, { small: await entry(stage) }, { tools: { disabled: ['small__greet'] } });
      const seen = await stage.terminal(['run', 'greet'], answer('Approve it? [y/N]', 'y'));
      expect(seen.raw).not.toContain('greet\r');
      expect(toolsTold(stage.server)).toEqual(['small__count']);
    }));

  it('gets no variable whose name says secret, which is told at the start', () =>
    onStage([call('small__environment'), DONE], async (stage) => {
      const given = await entry(stage, [tool('environment')]);
      const env = { GITHUB_TOKEN: 'hunter2222', LEVEL: 'debug', LANG: '' };
      await operator(stage, { small: { ...given, env, auto_approve: true } });
      const ended = await stage.run(['run', 'look'], { env: { MY_SECRET: 'x', OTHER: 'y' } });
      expect(ended.stderr).toContain('MCP server "small" does not get GITHUB_TOKEN');
      expect(ended.stderr).not.toContain('hunter2222');
      const [names = ''] = lastResults(stage.server);
      expect(names).toContain('LEVEL');
      expect(names).toContain('PATH');
      for (const name of ['GITHUB_TOKEN', 'MY_SECRET', 'OTHER']) expect(names).not.toContain(name);
    }));

  it('that does not start ends everything with exit code 3, and leaves no process', () =>
    onStage([DONE], async (stage) => {
      await operator(stage, {
        small: { ...(await entry(stage)), auto_approve: true },
        broken: { command: process.execPath, args: ['-e', 'console.error("no luck today"); process.exit(9)'], auto_approve: true },
      });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain('broken');
      expect(ended.stderr).toContain('no luck today');
      expect(ended.stderr).toContain('odek mcp probe broken');
      expect(stage.server.requests).toEqual([]);
      await nothingRuns(stage);
    }));

  it.each([
    ['is not there', { command: '/nowhere/to/be/found' }, 'found'],
    ['has a tool with a bad name', [tool('a__b')], 'a__b'],
    ['has a tool with a name of 70 characters', [tool('x'.repeat(70))], 'is not allowed'],
  ])('ends the start when it %s', (_, what, said) =>
    onStage([DONE], async (stage) => {
      const given = Array.isArray(what) ? await entry(stage, what) : what;
      await operator(stage, { small: { ...given, auto_approve: true } });
      const ended = await stage.run(['run', 'greet']);
      expect(ended.code).toBe(3);
      expect(ended.stderr).toContain(said);
      await nothingRuns(stage);
    }),
  );

  it.each([['run', 'greet'], ['mcp']])('is told of when it keeps odek %s waiting, and Ctrl-C then leaves nothing behind', (...command) =>
    onStage([DONE], async (stage) => {
      const { args = [], ...given } = (await entry(stage)) as { command: string; args?: readonly string[] };
      await operator(stage, { slow: { ...given, args: [...args, 'silent'], auto_approve: true } });
      const running = stage.start(command);
      await running.untilTold('waiting for MCP servers: slow');
      running.child.kill('SIGINT');
      expect((await running.ended).code).toBe(130);
      expect(pidsOf(stage)).toHaveLength(1);
      await nothingRuns(stage);
    }),
  );

  it('that dies while it is called fails that call alone', () =>
    onStage([call('small__die'), call('small__greet'), DONE], async (stage) => {
      await operator(stage, { small: { ...(await entry(stage, [tool('die'), tool('greet')])), auto_approve: true } });
      expect((await stage.run(['run', 'try'])).code).toBe(0);
      const [died, greeted] = lastResults(stage.server);
      expect(died).toContain('7');
      expect(greeted).toContain('greet says {}');
      await nothingRuns(stage);
    }));
});
