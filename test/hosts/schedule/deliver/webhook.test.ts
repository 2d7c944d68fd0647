import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createHttpClient } from '../../../../adapters/http/index.ts';
import { signatureOf, webhookSender } from '../../../../hosts/schedule/deliver/webhook.ts';
import type { Delivery } from '../../../../ports/schedule.ts';
import { NOON } from '../../../contracts/schedule-store.suite.ts';

const SECRET = 'whsec-0123456789abcdef';
let got: { headers: IncomingHttpHeaders; body: string; method: string | undefined }[];
let answer: { status: number; headers?: Record<string, string> };
let server: ReturnType<typeof createServer>;
let url: string;
let http: ReturnType<typeof createHttpClient>;

beforeEach(async () => {
  got = [];
  answer = { status: 204 };
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      body += piece;
    });
    request.on('end', () => {
      got.push({ headers: request.headers, body, method: request.method });
      response.writeHead(answer.status, answer.headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  url = `http://127.0.0.1:${port}/hook?x=1`;
  http = createHttpClient({ mode: 'guarded', allowHosts: [`127.0.0.1:${port}`] });
});
afterEach(async () => {
  await http.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

function delivery(changes: Partial<Delivery> = {}): Delivery {
  return {
    id: 7,
    jobId: 'jb-00000001',
    jobName: 'nightly',
    dueAt: NOON,
    sessionId: 's1',
    target: { kind: 'webhook', url },
    text: 'grün ✓',
    state: 'sending',
    attempts: 1,
    maybeRepeat: false,
    createdAt: NOON,
    nextAt: NOON,
    ...changes,
  };
}

const send = (changes: Partial<Delivery> = {}, secret: string | undefined = SECRET) =>
  webhookSender({ http, secret, now: () => NOON })(delivery(changes), new AbortController().signal);

describe('a webhook', () => {
  it('gets the result as JSON, signed together with the time, under a key that stays the same', async () => {
    await send();
    await send({ attempts: 2 });
    const [first, second] = got;
    expect(first?.method).toBe('POST');
    expect(JSON.parse(first?.body ?? '')).toEqual({
      type: 'odek.schedule.result',
      job: 'nightly',
      job_id: 'jb-00000001',
      due_at: '2026-03-10T12:00:00.000Z',
      session_id: 's1',
      attempt: 1,
      possible_repeat: false,
      text: 'grün ✓',
    });
    const seconds = NOON / 1000;
    const expected = createHmac('sha256', SECRET).update(`${seconds}.${first?.body}`).digest('hex');
    expect(first?.headers['odek-signature']).toBe(`t=${seconds},v1=${expected}`);
    expect(first?.headers['idempotency-key']).toBe(`jb-00000001-${NOON}-7`);
    expect(second?.headers['idempotency-key']).toBe(first?.headers['idempotency-key']);
    expect(JSON.parse(second?.body ?? '')).toMatchObject({ attempt: 2, possible_repeat: true });
  });

  it('has a signature that changes with the body, the time and the secret', () => {
    const all = [signatureOf('a', 1, 'x'), signatureOf('a', 1, 'y'), signatureOf('a', 2, 'x'), signatureOf('b', 1, 'x')];
    expect(new Set(all).size).toBe(4);
  });

  it.each([
    [500, true],
    [503, true],
    [429, true],
    [400, false],
    [404, false],
    [302, false],
  ])('that answers %i is tried again: %s', async (status, retry) => {
    answer = { status, headers: { location: '/elsewhere' } };
    await expect(send()).rejects.toMatchObject({ retry, message: `the receiver answered ${status}` });
    expect(got).toHaveLength(1);
  });

  it('is given the time that it asks for, within an hour', async () => {
    answer = { status: 429, headers: { 'retry-after': '90' } };
    await expect(send()).rejects.toMatchObject({ retryAfterMs: 90_000 });
    answer = { status: 503, headers: { 'retry-after': new Date(NOON + 86_400_000).toUTCString() } };
    await expect(send()).rejects.toMatchObject({ retryAfterMs: 3_600_000 });
  });

  it('is never sent to unsigned, nor where the guard does not let it', async () => {
    const unsigned = webhookSender({ http, secret: undefined, now: () => NOON })(delivery(), new AbortController().signal);
    await expect(unsigned).rejects.toMatchObject({ retry: true, message: expect.stringContaining('schedules.webhook_secret') });
    await expect(send({ target: { kind: 'webhook', url: 'http://127.0.0.1:9/' } })).rejects.toMatchObject({ retry: false });
    expect(got).toEqual([]);
  });

  it('that is away is tried again', async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await expect(send()).rejects.toMatchObject({ retry: true });
    server.listen(0);
  });
});
