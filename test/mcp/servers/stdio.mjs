// A scripted server over standard input and output.
//   node stdio.mjs '{"mode":"plain", "start":"banner"}'
// `start`: banner | logs | json-logs | silent | exit | crlf | bom | flood | ignore-eof | grandchild | batch | exit-on-discover | split-secret | deaf
import { spawn } from 'node:child_process';
import { appendFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { createBehaviour } from './behaviour.mjs';

const options = JSON.parse(process.argv[2] ?? '{}');
const { start = 'plain', pidFile, logFile } = options;
const behaviour = createBehaviour(options);
const ending = start === 'crlf' ? '\r\n' : '\n';

const write = (text) => new Promise((resolve) => process.stdout.write(text, resolve));
const send = (message) => write((start === 'bom' ? '\ufeff' : '') + JSON.stringify(start === 'batch' ? [message] : message) + ending);
const peer = {
  send,
  for: () => send,
  raw: write,
  stderr: (text) => new Promise((resolve) => process.stderr.write(text, resolve)),
  exit(code) {
    process.stderr.write('', () => process.exit(code));
  },
};

if (pidFile !== undefined && start !== 'grandchild') writeFileSync(pidFile, String(process.pid));
if (start === 'banner') await write(`${options.banner ?? 'scripted server v1.2.3'}\n\ufeff\u001b[1mready\u001b[0m\n`);
if (start === 'split-secret') {
  process.stderr.write(`the key is ${options.secret.slice(0, 12)}`);
  setTimeout(() => process.stderr.write(`${options.secret.slice(12)}, use it\n`), 100);
}
if (start === 'logs') setInterval(() => write('2026-11-30 INFO still here\n'), 20);
if (start === 'json-logs') setInterval(() => write('{"level":"info","msg":"still here"}\n'), 20);
if (start === 'exit') {
  process.stderr.write('no configuration found\n', () => process.exit(7));
}
if (start === 'ignore-eof') {
  process.on('SIGTERM', () => {});
  setInterval(() => {}, 1000);
}
if (start === 'grandchild') {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'ignore', detached: true });
  child.unref();
  writeFileSync(pidFile, `${process.pid} ${child.pid}`);
}
if (start === 'flood') {
  const chunk = 'y'.repeat(64 * 1024);
  for (;;) await write(chunk);
}

if (start !== 'silent' && start !== 'logs' && start !== 'json-logs' && start !== 'exit') {
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line);
    if (start === 'exit-on-discover' && message.method === 'server/discover') process.exit(1);
    if (start === 'deaf' && message.method === 'notifications/initialized') {
      process.stdin.pause();
      setInterval(() => {}, 1000);
      await new Promise(() => {});
    }
    if (logFile !== undefined)
      appendFileSync(logFile, `${JSON.stringify({ method: message.method ?? 'response', params: message.params })}\n`);
    void behaviour.handle(message, peer);
  }
  if (start !== 'ignore-eof') process.exit(0);
} else process.stdin.resume();
