import type { Check } from './line.ts';
import type { Peer } from './peer.ts';

const ping = (id: string | number): string => JSON.stringify({ jsonrpc: '2.0', id, method: 'ping' });

/** How lines are read: endings, chunks, nonsense and ids. Each is followed by a request that has to be answered. */
export async function checkFraming(peer: Peer, timeoutMs: number, check: Check): Promise<void> {
  await check('framing.crlf', 'framing', 'reads a line that ends with CRLF', async () => {
    await peer.request('ping', undefined, { ending: '\r\n', timeoutMs });
    return undefined;
  });
  await check('framing.blank', 'framing', 'skips empty lines', async () => {
    peer.write('\n\r\n');
    await peer.request('ping', undefined, { timeoutMs });
    return undefined;
  });
  await check('framing.chunks', 'framing', 'reads a line in two pieces, and two lines in one', async () => {
    const [first, second, third] = [peer.nextId(), peer.nextId(), peer.nextId()];
    const line = ping(first);
    peer.write(line.slice(0, 10));
    await new Promise((resolve) => setTimeout(resolve, 30));
    peer.write(`${line.slice(10)}\n${ping(second)}\n${ping(third)}\n`);
    await Promise.all([first, second, third].map((id) => peer.answerTo(id, timeoutMs)));
    return undefined;
  });
  await check('framing.separators', 'framing', 'ends a line at LF alone, not at other separators', async () => {
    await peer.request('ping', { _meta: { note: '\u2028 \u2029 \u0085' } }, { timeoutMs });
    return undefined;
  });
  await check('framing.garbage', 'framing', 'goes on after a line that is not JSON', async () => {
    peer.write('{"jsonrpc":"2.0","id":\n');
    await peer.request('ping', undefined, { timeoutMs });
    return undefined;
  });
  await check('requests.id', 'requests', 'gives an id back as it came, text or number', async () => {
    await peer.request('ping', undefined, { id: 'odek-text-id', timeoutMs });
    return undefined;
  });
}
