import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Authority, startAuthority } from '../../adapters/mcp/oauth/authority.ts';
import { call, DONE, lastResults, operator, project } from '../support/mcp.ts';
import { until } from '../support/processes.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

async function withAuthority(work: (authority: Authority) => Promise<void>): Promise<void> {
  const authority = await startAuthority();
  try {
    await work(authority);
  } finally {
    await authority.close();
  }
}

/** `odek mcp login` at a terminal, with a browser beside it that a person uses. */
async function logIn(stage: Stage): Promise<string> {
  const copy = join(stage.work, '..', 'shown.txt');
  const ended = stage.terminal(['mcp', 'login', 'guarded'], [], { shell: `"$@" | tee ${copy}` });
  let address = '';
  await until('the address is shown', async () => {
    address = /^http:\S+\/authorize\?\S+$/m.exec(await readFile(copy, 'utf8').catch(() => ''))?.[0] ?? '';
    return address !== '';
  });
  const back = (await fetch(address, { redirect: 'manual' })).headers.get('location');
  expect((await fetch(back ?? '')).status).toBe(200);
  return (await ended).raw;
}

describe.concurrent('odek mcp login', PATIENT, () => {
  it('shows a person the way, and then the server is there, its tokens in no output', () =>
    withAuthority((authority) =>
      onStage([], async (stage) => {
        await operator(stage, { guarded: { url: authority.url, auto_approve: true } });
        const before = await stage.run(['mcp', 'probe', 'guarded']);
        expect(before.code).not.toBe(0);
        expect(before.stderr).toContain('run odek mcp login guarded at a terminal');

        const shown = await logIn(stage);
        expect(shown).toContain(`guarded sends you to ${new URL(authority.origin).host} to log in, for read`);
        expect(shown).toContain('Logged in at guarded, for read.');
        const file = join(stage.state, 'mcp_oauth.json');
        expect((await stat(file)).mode & 0o777).toBe(0o600);

        const probed = await stage.run(['mcp', 'probe', 'guarded']);
        expect(probed.stdout).toMatch(/^login {5}logged in until \d{4}-.*, then renewed$/m);
        expect(probed.stdout).toContain('whoami');
        const listed = await stage.run(['mcp', 'list']);
        expect(listed.stdout).toMatch(/logged in until/);
        const said = [shown, ...[before, probed, listed].flatMap(({ stdout, stderr }) => [stdout, stderr])].join('\n');
        for (const token of authority.tokens) expect(said).not.toContain(token);

        const out = await stage.run(['mcp', 'logout', 'guarded']);
        expect(out.stdout).toBe('Logged out of guarded.\n');
        expect(await readFile(file, 'utf8')).not.toMatch(/access-|refresh-/);
        expect(authority.seen.revoked).toHaveLength(1);
        expect((await stage.run(['mcp', 'logout', 'guarded'])).code).not.toBe(0);
      }),
    ));

  it('hides its tokens also where a server repeats them, those of a renewal included', () =>
    withAuthority((authority) =>
      onStage([call('guarded__whoami'), DONE], async (stage) => {
        await operator(stage, { guarded: { url: authority.url, auto_approve: true } });
        authority.rules.expiresIn = 30;
        await logIn(stage);
        authority.rules.expiresIn = 3600;
        authority.rules.tells = true;
        const { code, stdout, stderr } = await stage.run(['run', 'Who am I?']);
        expect([code, authority.seen.refreshes]).toEqual([0, 1]);
        expect(lastResults(stage.server).join()).toContain('somebody [REDACTED]');
        const said = [stdout, stderr, JSON.stringify(stage.server.requests)].join();
        for (const token of authority.tokens) expect(said).not.toContain(token);
      }),
    ));

  it('says who gets what is granted, where that is not who is logged in at', () =>
    withAuthority((authority) =>
      onStage([], async (stage) => {
        await operator(stage, { guarded: { url: authority.url, auto_approve: true } });
        // The same server under another name.
        authority.rules.authorizePage = `${authority.origin.replace('127.0.0.1', 'localhost')}/authorize`;
        const shown = await logIn(stage);
        expect(shown).toMatch(/guarded sends you to localhost:\d+ to log in, for read:/);
        expect(shown).toContain(`What you grant there goes to ${new URL(authority.origin).host}: log in only if you know that host too.`);
      }),
    ));

  it('shows no time that is none, and no token in JSON', () =>
    withAuthority((authority) =>
      onStage([], async (stage) => {
        await operator(stage, { guarded: { url: authority.url, auto_approve: true } });
        authority.rules.answer = { expires_in: 1e300 };
        await logIn(stage);
        const listed = await stage.run(['mcp', 'list', '--json']);
        expect(JSON.parse(listed.stdout)).toMatchObject([{ name: 'guarded', login: expect.stringMatching(/^logged in until \d{4}-/) }]);
        const probed = await stage.run(['mcp', 'probe', 'guarded', '--json']);
        expect(JSON.parse(probed.stdout)).toMatchObject({ server: 'guarded' });
        for (const token of authority.tokens) expect(listed.stdout + probed.stdout + listed.stderr + probed.stderr).not.toContain(token);
      }),
    ));

  it('gives nothing of the operator to a server of a project that bears the same name, or the same address', () =>
    withAuthority((authority) =>
      withAuthority((theirs) =>
        onStage([], async (stage) => {
          await operator(stage, { guarded: { url: authority.url, auto_approve: true } });
          await logIn(stage);
          const env = { ODEK_APPROVE_MCP: '1' };
          for (const entry of [{ url: theirs.url }, { url: authority.url, timeout_seconds: 7 }]) {
            await project(stage, { guarded: entry });
            const listed = await stage.run(['mcp', 'list', '--json'], { env });
            expect(JSON.parse(listed.stdout)).toMatchObject([{ origin: 'project', login: '' }]);
            const before = authority.seen.revoked.length;
            expect((await stage.run(['mcp', 'logout', 'guarded'], { env })).code).not.toBe(0);
            expect(authority.seen.revoked).toHaveLength(before);
          }
        }),
      ),
    ));

  it('is not used for a server whose address was changed since', () =>
    withAuthority((authority) =>
      withAuthority((moved) =>
        onStage([], async (stage) => {
          await operator(stage, { guarded: { url: authority.url, auto_approve: true } });
          await logIn(stage);
          await operator(stage, { guarded: { url: moved.url, auto_approve: true } });
          const { code, stderr } = await stage.run(['mcp', 'probe', 'guarded']);
          expect(code).not.toBe(0);
          expect(stderr).toContain('run odek mcp login guarded at a terminal');
          expect(moved.seen.bearers).toEqual([]);
        }),
      ),
    ));

  it('is not used beside token_env, also where that is not set', () =>
    withAuthority((authority) =>
      onStage([], async (stage) => {
        await operator(stage, { guarded: { url: authority.url, auto_approve: true } });
        await logIn(stage);
        await operator(stage, { guarded: { url: authority.url, auto_approve: true, token_env: 'MCP_ITS_TOKEN' } });
        expect((await stage.run(['mcp', 'probe', 'guarded'], { env: { MCP_ITS_TOKEN: 'token-of-the-operator' } })).code).not.toBe(0);
        expect(new Set(authority.seen.bearers)).toEqual(new Set(['Bearer token-of-the-operator']));
        authority.seen.bearers.length = 0;
        expect((await stage.run(['mcp', 'probe', 'guarded'])).code).not.toBe(0);
        expect(authority.seen.bearers).toEqual([]);
      }),
    ));

  it('is for a person, and for servers that have a login', () =>
    onStage([], async (stage) => {
      await operator(stage, {
        remote: { url: 'https://mcp.example.com/rpc' },
        small: { command: 'true' },
        held: { url: 'https://mcp.example.com/rpc', token_env: 'MCP_TOKEN' },
      });
      const expected = { remote: /run odek mcp login remote at a terminal/, small: /is a command/, held: /take token_env out/ };
      for (const [name, text] of Object.entries(expected)) {
        const { code, stderr } = await stage.run(['mcp', 'login', name]);
        expect(code).not.toBe(0);
        expect(stderr).toMatch(text);
      }
    }));

  it('is asked about for a server of a project, which is never reached at a private address', () =>
    withAuthority((authority) =>
      onStage([], async (stage) => {
        await project(stage, { guarded: { url: authority.url, oauth_client_id: 'theirs' } });
        const steps = [{ wait: 'Connect to it? [y/N]' }, { send: 'y\r' }, { wait: 'Log in at it? [y/N]' }, { send: 'y\r' }];
        const { raw } = await stage.terminal(['mcp', 'login', 'guarded'], steps);
        expect(raw).toContain('oauth_client_id is ignored: a project cannot set it');
        expect(raw).toMatch(/the login failed: .*127\.0\.0\.1/);
        expect(authority.seen.authorize).toBeUndefined();
      }),
    ));
});
