/** One of several processes with the same login: node renewing-process.ts <folder> <url>. Prints the digest of its token. */
import { createHash } from 'node:crypto';
import { createHttpClient, hostPort } from '../../../../adapters/http/index.ts';
import { createMcpOAuth } from '../../../../adapters/mcp/oauth/index.ts';
import { serverAt } from './server-at.ts';

const [folder = '', url = ''] = process.argv.slice(2);
const http = createHttpClient({ mode: 'guarded', allowHosts: [hostPort(new URL(url))] });
const oauth = createMcpOAuth({
  folder,
  place: folder,
  http: () => http,
  settings: () => ({}),
  // An hour from now every token has to be renewed.
  now: () => Date.now() + 3600 * 1000,
  learn: () => {},
});
const token = await oauth.authorization(serverAt(url)).token(AbortSignal.timeout(30_000));
console.log(
  createHash('sha256')
    .update(token ?? '')
    .digest('hex'),
);
await http.close();
