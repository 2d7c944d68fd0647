import { createServer } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { ServerReply } from '../../fakes/openai-server.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const DONE: ServerReply = { text: 'It is done.' };

async function refsOf(stage: Stage): Promise<unknown> {
  const listed = await stage.run(['session', 'list', '--json']);
  const { sessions } = JSON.parse(listed.stdout) as { readonly sessions: readonly { readonly id: string }[] };
  const exported = await stage.run(['session', 'export', sessions[0]?.id ?? '']);
  const { session } = JSON.parse(exported.stdout) as { readonly session: { readonly externalRefs: unknown } };
  return session.externalRefs;
}

describe.concurrent('a reference to something outside', PATIENT, () => {
  it('is kept with its session, added to by odek continue without repeats, and never followed', async () => {
    let followed = 0;
    const outside = createServer((_request, response) => {
      followed += 1;
      response.end();
    });
    await new Promise<void>((resolve) => outside.listen(0, '127.0.0.1', resolve));
    const { port } = outside.address() as { readonly port: number };
    const uri = `http://127.0.0.1:${port}/runs/4821`;
    try {
      await onStage([DONE, DONE], async (stage) => {
        const given = ['--external-ref', `kind=ci-run,uri=${uri},created_by=ci-orchestrator`];
        const first = await stage.run(['run', '--session', ...given, 'look']);
        expect(first.code, first.stderr).toBe(0);
        const kept = {
          kind: 'ci-run',
          uri,
          created_by: 'ci-orchestrator',
          read_only: true,
          created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        };
        expect(await refsOf(stage)).toEqual([kept]);
        const second = await stage.run(['continue', ...given, '--external-ref', 'ticket=T-1', 'again']);
        expect(second.code, second.stderr).toBe(0);
        expect(await refsOf(stage)).toEqual([kept, expect.objectContaining({ kind: 'ticket', uri: 'T-1', created_by: 'cli' })]);
        expect(JSON.stringify(stage.server.requests.map(({ body }) => body.messages))).not.toContain('runs/4821');
      });
    } finally {
      outside.close();
    }
    expect(followed).toBe(0);
  });

  it('that is malformed ends the start, and one without a session is warned about', () =>
    onStage([DONE], async (stage) => {
      const refused = await stage.run(['run', '--session', '--external-ref', 'nonsense', 'look']);
      expect(refused.code).toBe(3);
      expect(refused.stderr).toContain('--external-ref nonsense');
      expect(stage.server.requests).toEqual([]);
      const warned = await stage.run(['run', '--external-ref', 'ticket=T-1', 'look']);
      expect(warned.code, warned.stderr).toBe(0);
      expect(warned.stderr).toContain('--external-ref is kept only with --session');
    }));
});
