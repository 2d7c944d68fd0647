import { describe, expect, it } from 'vitest';
import type { ServerReply, ServerRequest } from '../../fakes/openai-server.ts';
import { onStage, PATIENT } from '../support/stage.ts';

/** The judge is asked without tools. */
const isJudge = ({ body }: ServerRequest): boolean => body.tools === undefined;
const FAIL = '{"verdict":"fail","reasons":["no file was read"],"missing":[]}';

/** One script for the agent, one for the judge. */
function script(answers: readonly ServerReply[], verdicts: readonly string[]): (request: ServerRequest) => ServerReply {
  let [answered, judged] = [0, 0];
  return (request) => {
    const reply = isJudge(request) ? { text: verdicts[judged++] ?? '' } : answers[answered++];
    return reply ?? { error: {}, status: 400 };
  };
}

describe.concurrent('the verification pass of odek run', PATIENT, () => {
  it('sends a failing answer back, and tells the usage of both models', () =>
    onStage(
      script([{ text: 'a guess' }, { text: 'an answer' }], [FAIL, '{"verdict":"pass"}']),
      async ({ run, server }) => {
        const { code, stdout } = await run(['run', 'look']);
        expect([code, stdout]).toEqual([0, 'an answer\n']);
        expect(server.requests.map(({ body }) => body.model)).toEqual(['scripted', 'judge', 'scripted', 'judge']);
        const usage = JSON.parse((await run(['usage', '--json'])).stdout) as { calls: Record<string, unknown>[] };
        expect(usage.calls).toEqual([
          expect.objectContaining({ model: 'judge', purpose: 'side', calls: 2, cost_usd: null }),
          expect.objectContaining({ model: 'scripted', purpose: 'main', calls: 2, cost_usd: null }),
        ]);
      },
      { config: { verify: { enabled: true, model: 'judge' } } },
    ));

  it('marks the answer in strict mode', () =>
    onStage(
      script([{ text: 'a guess' }], [FAIL]),
      async ({ run }) => {
        const { code, stdout } = await run(['run', 'look']);
        expect([code, stdout]).toEqual([0, '[Verification failed — answer returned unverified]\n\na guess\n']);
      },
      { config: { verify: { enabled: true, mode: 'strict' } } },
    ));

  it('is off by default, and a project cannot turn it on', () =>
    onStage(script([{ text: 'a guess' }], []), async ({ run, file, server }) => {
      await file('odek.json', JSON.stringify({ verify: { enabled: true } }));
      expect((await run(['run', 'look'])).stdout).toBe('a guess\n');
      expect(server.requests).toHaveLength(1);
    }));
});
