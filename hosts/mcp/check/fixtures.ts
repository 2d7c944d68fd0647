import { createArtifactFiles } from '../../../adapters/artifacts/disk.ts';
import { createArtifactDesk } from '../../../core/artifacts/desk.ts';
import { readEnvelope } from '../../../core/artifacts/envelope.ts';
import type { ArtifactLedger } from '../../../ports/artifact.ts';
import { type Check, type CheckOptions, type Finding, type ListedTool, patienceOf } from './line.ts';
import { type Answer, MAX_RESPONSE_BYTES, type Peer } from './peer.ts';

const RESULT_MS = 30_000;
const CANCEL_AFTER_MS = 150;

/** Nothing is kept: only whether a reference holds is of interest. */
const NO_LEDGER: ArtifactLedger = {
  add: async (_session, entries) => entries.map(({ id }) => id),
  find: async () => undefined,
};

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

function textsOf({ result }: Answer): readonly string[] {
  const content = Array.isArray(result?.content) ? (result.content as readonly { type?: unknown; text?: unknown }[]) : [];
  return content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : []));
}

/** Without a folder every reference is refused, which says nothing of the server. */
const NO_ROOT = { skip: 'no folder may hold artifacts; name one with --artifact-root' };

function refsOf(answer: Answer) {
  return textsOf(answer).flatMap((text) => readEnvelope(text).artifacts);
}

/** Whether every artifact of an answer is as the contract says. Rejects with what is wrong. */
async function acceptArtifacts(answer: Answer, options: CheckOptions): Promise<number> {
  const refs = refsOf(answer);
  const desk = createArtifactDesk({ files: createArtifactFiles(), ledger: NO_LEDGER });
  const origin = { session: 'check', source: 'mcp:check:check', roots: options.artifactRoots, signal: options.signal };
  return (await desk.accept(refs, origin)).length;
}

/** The tools of the reference server, where a server has them, and whatever `call` names. */
export async function checkFixtures(peer: Peer, tools: readonly ListedTool[], options: CheckOptions, check: Check): Promise<void> {
  const call = (tool: string, input: object = {}): Promise<Answer> =>
    peer.request('tools/call', { name: tool, arguments: input }, { timeoutMs: RESULT_MS });
  const withTool = async (tool: string, look: () => Promise<Finding>): Promise<Finding> =>
    tools.some(({ name }) => name === tool) ? look() : { skip: `it has no tool ${tool}` };

  await check('results.error', 'results', 'says in its result that a tool failed', () =>
    withTool('error_result', async () => ((await call('error_result')).result?.isError === true ? undefined : 'isError is not true')),
  );
  await check('results.large', 'limits', 'gives a large result as one line within 10 MiB', () =>
    withTool('large_result', async () => {
      const answer = await call('large_result');
      return textsOf(answer).length > 0 ? undefined : 'the result has no text';
    }),
  );
  await check('envelope', 'artifacts', 'refers to files by the rules, inside an artifact root', async () => {
    const used = options.call?.tool ?? (tools.some(({ name }) => name === 'artifact_result') ? 'artifact_result' : undefined);
    if (used === undefined) return { skip: 'no tool is known to give artifacts; name one with --call' };
    try {
      const answer = await call(used, options.call?.input);
      if (options.artifactRoots.length === 0 && refsOf(answer).length > 0) return NO_ROOT;
      const count = await acceptArtifacts(answer, options);
      return count === 0 && options.call !== undefined ? { skip: `${used} gave no artifact` } : undefined;
    } catch (error) {
      return `${used}: ${messageOf(error)}`;
    }
  });
  await check('envelope.refused', 'artifacts', 'a reference that is not true is refused', () =>
    withTool('bad_artifact', async () => {
      if (options.artifactRoots.length === 0) return NO_ROOT;
      const answer = await call('bad_artifact');
      try {
        await acceptArtifacts(answer, options);
        return 'the reference of bad_artifact was accepted';
      } catch {
        return undefined;
      }
    }),
  );
  await check('cancel', 'time', 'answers other requests while a call is slow, and lives on after its cancellation', () =>
    withTool('slow', async () => {
      const id = peer.nextId();
      peer.write(`${JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name: 'slow', arguments: { ms: 20_000 } } })}\n`);
      await peer.request('ping', undefined, { timeoutMs: patienceOf(options) });
      if (peer.hasAnswered(id)) return 'slow answered at once; it should wait as long as it is told to';
      await new Promise((resolve) => setTimeout(resolve, CANCEL_AFTER_MS));
      peer.notify('notifications/cancelled', { requestId: id, reason: 'no longer needed' });
      await peer.request('ping', undefined, { timeoutMs: patienceOf(options) });
      return undefined;
    }),
  );
  await check('limits', 'limits', 'keeps every line within 10 MiB', () =>
    peer.largestLine <= MAX_RESPONSE_BYTES ? undefined : `one line has ${peer.largestLine} bytes, the limit is ${MAX_RESPONSE_BYTES}`,
  );
}
