import { afterEach, expect, it } from 'vitest';
import { type Health, type HealthEndpoint, serveHealth } from '../../../hosts/schedule/health.ts';

let open: HealthEndpoint | undefined;
afterEach(async () => {
  await open?.close();
  open = undefined;
});

it('health is 503 while the scheduler starts and ends, and 200 between', async () => {
  let health: Health = { status: 'starting' };
  open = await serveHealth('127.0.0.1:0', () => health);
  const ask = async () => {
    const answer = await fetch(`http://${open?.address}/health`);
    return [answer.status, await answer.json()];
  };
  expect(await ask()).toEqual([503, { status: 'starting' }]);
  health = { status: 'ok', uptime_seconds: 3, running: 1 };
  expect(await ask()).toEqual([200, { status: 'ok', uptime_seconds: 3, running: 1 }]);
  health = { status: 'draining' };
  expect(await ask()).toEqual([503, { status: 'draining' }]);
  expect((await fetch(`http://${open.address}/health`, { method: 'POST' })).status).toBe(404);
  expect((await fetch(`http://${open.address}/`)).status).toBe(404);
});

it('an address that is taken ends the start, and one beyond this machine is known as such', async () => {
  open = await serveHealth('127.0.0.1:0', () => ({ status: 'ok' }));
  expect(open.isLocal).toBe(true);
  await expect(serveHealth(open.address, () => ({ status: 'ok' }))).rejects.toMatchObject({ code: 'health_unavailable' });
  const wide = await serveHealth('0.0.0.0:0', () => ({ status: 'ok' }));
  expect(wide.isLocal).toBe(false);
  await wide.close();
});
