import { existsSync } from 'node:fs';
import { mkdir, readFile, symlink, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { OpenAiServer, ServerReply } from '../../fakes/openai-server.ts';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const SERVER = fileURLToPath(new URL('../../../docs/examples/extension-server/server.mjs', import.meta.url));
const REPORT = Array.from({ length: 2000 }, (_, line) => `line ${line + 1}\n`).join('');

const call = (name: string, input: object = {}): ServerReply => ({ calls: [{ name, arguments: input }] });
const DONE: ServerReply = { text: 'It is done.' };
const read = (id = 'report-1', offset?: number): ServerReply => call('artifact_read', { id, ...(offset !== undefined && { offset }) });

const artifactsOf = ({ work }: Pick<Stage, 'work'>): string => join(work, '..', 'artifacts');

/** The operator's configuration of this stage with the reference server in it. */
async function withServer(stage: Stage, facts: object = {}): Promise<void> {
  const folder = artifactsOf(stage);
  if (!existsSync(folder)) await mkdir(folder);
  const config = JSON.parse(await readFile(join(stage.state, 'config.json'), 'utf8'));
  const args = [SERVER, '--artifacts', folder];
  const ext = { command: process.execPath, args, auto_approve: true, artifact_roots: [folder], ...facts };
  await stage.configure({ ...config, mcp_servers: { ext } });
}

const results = (server: OpenAiServer): string[] => {
  const messages: { role: string; content: string }[] = server.requests.at(-1)?.body.messages ?? [];
  return messages.filter((message) => message.role === 'tool').map((message) => message.content);
};

const tools = (server: OpenAiServer): readonly string[] =>
  (server.requests.at(-1)?.body.tools ?? []).map((each: { function: { name: string } }) => each.function.name);

describe.concurrent('an artifact', PATIENT, () => {
  it('is told of without path and content, counted in the events, and read by its id, also after odek continue', () =>
    onStage([call('ext__artifact_result'), read(), DONE, read(), DONE], async (stage) => {
      await withServer(stage);
      const events = join(stage.work, '..', 'events.jsonl');
      const first = await stage.run(['run', '--session', '--events-jsonl', events, 'report']);
      expect(first.code, first.stderr).toBe(0);
      const [told = '', text = ''] = results(stage.server);
      expect(told).toMatch(
        /source="mcp:ext:artifact_result">\nWrote a report of 2000 lines\.\n\[artifact report-1 · text\/plain · \d+ bytes · sha256:[0-9a-f]{12} · /,
      );
      expect(told).not.toContain(artifactsOf(stage));
      expect(told).not.toContain('line 1\n');
      expect(text).toContain('source="artifact:report-1"');
      expect(text).toContain(JSON.stringify(REPORT).slice(1, -1));
      const completed = (await readFile(events, 'utf8')).split('\n').filter((line) => line.includes('"tool_call_completed"'));
      expect(completed.map((line) => JSON.parse(line).data.artifact_count)).toEqual([1, 0]);

      const second = await stage.run(['continue', 'again']);
      expect(second.code, second.stderr).toBe(0);
      expect(results(stage.server).at(-1)).toContain(JSON.stringify(REPORT).slice(1, -1));
    }));

  it('whose file was swapped is not read', () =>
    onStage([call('ext__artifact_result'), DONE, read(), DONE, read(), DONE], async (stage) => {
      await withServer(stage);
      await stage.run(['run', '--session', 'report']);
      const file = join(artifactsOf(stage), 'report.txt');
      await writeFile(file, 'secret of somebody else');
      await stage.run(['continue', 'again']);
      expect(results(stage.server).at(-1)).toContain('its content has changed');
      await unlink(file);
      await writeFile(join(stage.work, '..', 'outside.txt'), REPORT);
      await symlink(join(stage.work, '..', 'outside.txt'), file);
      await stage.run(['continue', 'again']);
      expect(results(stage.server).at(-1)).toContain('lies outside the artifact roots');
    }));

  it('with a wrong digest refuses the whole result', () =>
    onStage([call('ext__bad_artifact'), read(), DONE], async (stage) => {
      await withServer(stage);
      expect((await stage.run(['run', 'report'])).code).toBe(0);
      const [refused = '', unread = ''] = results(stage.server);
      expect(refused).toContain('source="mcp:ext:bad_artifact"');
      expect(refused).toContain('the result is refused: artifact "report-1": the SHA-256 of the file is not');
      expect(refused).not.toContain('must not be believed');
      expect(unread).toContain('has no artifact');
    }));

  it('is refused, and artifact_read not offered, where no folder may hold one', () =>
    onStage([call('ext__artifact_result'), DONE], async (stage) => {
      await withServer(stage, { artifact_roots: [] });
      expect((await stage.run(['run', 'report'])).code).toBe(0);
      expect(results(stage.server)[0]).toContain('the result is refused');
      expect(tools(stage.server)).toContain('ext__artifact_result');
      expect(tools(stage.server)).not.toContain('artifact_read');
    }));
});

describe.concurrent('a large result', PATIENT, () => {
  it('is cut at max_result_chars with the notice in its exact form', () =>
    onStage([call('ext__large_result', { chars: 5000 }), DONE], async (stage) => {
      await withServer(stage, { max_result_chars: 1000 });
      await stage.run(['run', 'report']);
      expect(results(stage.server)[0]).toContain(
        '[odek: result truncated — server "ext" tool "large_result" produced 5000 chars, exceeding the configured max_result_chars=1000; the full result is available via the retained artifact references, if any]',
      );
    }));
});
