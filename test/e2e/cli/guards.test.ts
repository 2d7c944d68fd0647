import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { onStage, PATIENT, type Stage } from '../support/stage.ts';

const DONE = { text: 'done' };
const WRITES = { config: { dangerous: { non_interactive: 'deny', classes: { local_write: 'allow', network_egress: 'allow' } } } };

function results({ server }: Stage, count: number): string[] {
  return server.requests[1]?.body.messages.slice(-count).map(({ content }: { content: string }) => content);
}

describe.concurrent('a write', PATIENT, () => {
  it('that makes something run later needs approval of its own, by its place and by what is put in', () =>
    onStage(
      [
        {
          calls: [
            { name: 'write_file', arguments: { path: 'notes.md', content: 'x' } },
            { name: 'write_file', arguments: { path: '.envrc', content: 'x' } },
            { name: 'write_file', arguments: { path: '.github/workflows/ci.yml', content: 'x' } },
            { name: 'write_file', arguments: { path: 'sub/package.json', content: '{"scripts":{"postinstall":"x"}}' } },
            { name: 'write_file', arguments: { path: 'other/package.json', content: '{"scripts":{"test":"x"}}' } },
            { name: 'patch', arguments: { path: 'package.json', old_string: '"test"', new_string: '"prepare"' } },
          ],
        },
        DONE,
      ],
      async (stage) => {
        await writeFile(join(stage.work, 'package.json'), '{"scripts":{"test":"x"}}');
        expect((await stage.run(['run', 'write'])).code).toBe(0);
        const told = results(stage, 6);
        expect(told.map((text) => (text.includes('(persistence)') ? 'persistence' : text.includes('"success":true')))).toEqual([
          true,
          'persistence',
          'persistence',
          'persistence',
          true,
          'persistence',
        ]);
        expect(await readFile(join(stage.work, 'package.json'), 'utf8')).toBe('{"scripts":{"test":"x"}}');
      },
      WRITES,
    ));
});

describe.concurrent('calls of the browser in one response', PATIENT, () => {
  it('do not overtake one another: a snapshot shows the page that was asked for before it', async () => {
    const server = createServer(
      (_, response) => void setTimeout(() => response.setHeader('content-type', 'text/html').end('<p>slow page'), 400),
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const calls = [
      { name: 'browser', arguments: { action: 'navigate', url: `http://${host}/` } },
      { name: 'browser', arguments: { action: 'snapshot' } },
    ];
    try {
      await onStage(
        [{ calls }, DONE],
        async (stage) => {
          expect((await stage.run(['run', 'look'])).code).toBe(0);
          for (const text of results(stage, 2)) expect(text).toContain('slow page');
        },
        { config: { ...WRITES.config, network: { allow_hosts: [host] } } },
      );
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });
});
