import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, chmod, link, mkdir, mkdtemp, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import jsonl, { createJsonlSink } from '../../../adapters/sinks/jsonl.ts';
import type { WireEvent } from '../../../ports/event.ts';

const SINK = new URL('../../../adapters/sinks/jsonl.ts', import.meta.url).href;

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'odek-jsonl-'));
  path = join(folder, 'events.jsonl');
});

afterEach(() => rm(folder, { recursive: true, force: true }));

function event(count: number): WireEvent {
  return {
    schema: 'odek.event/v1',
    type: 'session_saved',
    run_id: '0'.repeat(32),
    timestamp: '2026-01-01T00:00:00.000Z',
    data: { message_count: count },
  };
}

async function write(...events: readonly WireEvent[]): Promise<void> {
  const sink = await createJsonlSink(path);
  for (const next of events) await sink.accept(next);
  await sink.close();
}

async function lines(): Promise<readonly string[]> {
  return (await readFile(path, 'utf8')).split('\n');
}

function failsWith(code: string) {
  return expect.objectContaining({ code, value: path, message: expect.stringContaining(path) });
}

describe('the event file', () => {
  it('is created for its owner alone', async () => {
    await write(event(1));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('that others could read is hardened', async () => {
    await writeFile(path, '');
    await chmod(path, 0o644);
    await write(event(1));
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('is continued, one object a line', async () => {
    await write(event(1), event(2));
    await write(event(3));
    expect(await lines()).toEqual([...[1, 2, 3].map((count) => JSON.stringify(event(count))), '']);
  });

  it('is continued on a fresh line after a process was killed inside one', async () => {
    await write(event(1));
    await appendFile(path, '{"schema":"odek.ev');
    await write(event(2));
    expect(await lines()).toEqual([JSON.stringify(event(1)), '{"schema":"odek.ev', JSON.stringify(event(2)), '']);
  });

  it('needs a folder that exists', async () => {
    path = join(folder, 'missing', 'events.jsonl');
    await expect(createJsonlSink(path)).rejects.toEqual(failsWith('sink_parent_missing'));
  });

  it('is never a symbolic link, also not one to nowhere', async () => {
    const target = join(folder, 'target');
    await writeFile(target, 'untouched');
    await symlink(target, path);
    await expect(createJsonlSink(path)).rejects.toEqual(failsWith('sink_symlink_refused'));
    await rm(path);
    await symlink(join(folder, 'nowhere'), path);
    await expect(createJsonlSink(path)).rejects.toEqual(failsWith('sink_symlink_refused'));
    expect(await readFile(target, 'utf8')).toBe('untouched');
  });

  it('is never reached through a link that is swapped in at any moment', async () => {
    const target = join(folder, 'target');
    await writeFile(target, 'untouched');
    const program = `const fs = require('node:fs');
      for (;;) {
        try { fs.symlinkSync(${JSON.stringify(target)}, ${JSON.stringify(path)}); } catch {}
        try { fs.unlinkSync(${JSON.stringify(path)}); } catch {}
      }`;
    const swapper = spawn(process.execPath, ['--eval', program], { stdio: 'ignore' });
    try {
      for (let attempt = 0; attempt < 300; attempt += 1) {
        const sink = await createJsonlSink(path).catch(() => undefined);
        await sink?.accept(event(attempt));
        await sink?.close();
      }
    } finally {
      swapper.kill('SIGKILL');
      await once(swapper, 'exit');
    }
    expect(await readFile(target, 'utf8')).toBe('untouched');
  });

  it('is never a folder or a pipe', async () => {
    await mkdir(path);
    await expect(createJsonlSink(path)).rejects.toEqual(failsWith('sink_not_a_file'));
    path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    await expect(createJsonlSink(path)).rejects.toEqual(failsWith('sink_not_a_file'));
  });

  it('keeps every event whose accept resolved when the process is killed', async () => {
    const program = `import { createJsonlSink } from ${JSON.stringify(SINK)};
      const sink = await createJsonlSink(${JSON.stringify(path)});
      for (let count = 1; ; count += 1) {
        await sink.accept({ schema: 'odek.event/v1', type: 'session_saved', data: { message_count: count } });
        process.stdout.write(count + '\\n');
      }`;
    const writer = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: ['ignore', 'pipe', 'inherit'] });
    let told = '';
    writer.stdout.setEncoding('utf8').on('data', (text: string) => {
      told += text;
      if (told.split('\n').length > 20) writer.kill('SIGKILL');
    });
    await once(writer, 'close');
    const promised = told.split('\n').slice(0, -1).length;
    expect(promised).toBeGreaterThan(10);
    const stored = (await lines())
      .slice(0, promised)
      .map((line) => (JSON.parse(line) as { data: { message_count: number } }).data.message_count);
    expect(stored).toEqual(Array.from({ length: promised }, (_, index) => index + 1));
  });

  it('may have a second name', async () => {
    await writeFile(path, '');
    await link(path, join(folder, 'other'));
    await write(event(1));
    expect(await readFile(join(folder, 'other'), 'utf8')).toBe(`${JSON.stringify(event(1))}\n`);
  });

  it('is never a device', async () => {
    path = '/dev/full';
    await expect(createJsonlSink(path)).rejects.toEqual(failsWith('sink_not_a_file'));
  });

  it('that cannot grow rejects the event, and starts on a fresh line once it can', async () => {
    const program = `import { createJsonlSink } from ${JSON.stringify(SINK)};
      const sink = await createJsonlSink(${JSON.stringify(path)});
      await sink.accept({ text: 'x'.repeat(900) });
      const error = await sink.accept({ text: 'y'.repeat(900) }).catch((error) => error);
      process.stdout.write(error.code + ' ' + error.cause.code);`;
    const limited = 'ulimit -f 1; exec "$0" --input-type=module --eval "$1"';
    expect(execFileSync('bash', ['-c', limited, process.execPath, program]).toString()).toBe('sink_write_failed EFBIG');
    await write(event(1));
    const [whole, partial, next] = await lines();
    expect(JSON.parse(whole ?? '')).toEqual({ text: 'x'.repeat(900) });
    expect(() => JSON.parse(partial ?? '')).toThrow();
    expect(next).toBe(JSON.stringify(event(1)));
  });
});

describe('the options of the event file', () => {
  it.each([[{}], [{ path: '' }], [{ path: 5 }]])('%j are refused', (options) => {
    expect(() => jsonl.create(options)).toThrow(expect.objectContaining({ code: 'invalid_sink_options' }));
  });
});
