/**
 * `npm run bench [-- --only loop|start|events|sessions|endurance|plan|mcp|plugins] [-- --rounds N]`: measures odek against a bare loop,
 * both in this run and on this machine, and prints the table of docs/performance.md.
 */
import { parseArgs } from 'node:util';
import { measureEndurance } from './endurance.bench.ts';
import { measureEvents } from './events.ts';
import { measureLoop } from './loop.ts';
import { measureMcp } from './mcp.ts';
import { measurePlan } from './plan.bench.ts';
import { measurePlugins } from './plugins.ts';
import { prepareBench, startModelServer } from './processes.ts';
import { measureSessions } from './sessions.ts';
import { measureStart } from './start.ts';
import { formatTable, isKept, type Row } from './table.ts';

const SECTIONS = ['start', 'loop', 'events', 'sessions', 'endurance', 'plan', 'mcp', 'plugins'] as const;
/** Whole processes for the figures of the start; the loop takes a fifth of it. */
const ROUNDS = 21;

const { values } = parseArgs({ options: { only: { type: 'string' }, rounds: { type: 'string', default: String(ROUNDS) } } });
const rounds = Number(values.rounds);
if (!Number.isInteger(rounds) || rounds < 1 || rounds > 1000)
  throw new Error(`--rounds is ${values.rounds}; it is a whole number from 1 to 1000`);
if (values.only !== undefined && !SECTIONS.some((section) => section === values.only)) {
  throw new Error(`--only is ${values.only}; the sections are ${SECTIONS.join(', ')}`);
}
const wants = (section: (typeof SECTIONS)[number]): boolean => values.only === undefined || values.only === section;

const rows: Row[] = [];
const bench = await prepareBench();
const model = await startModelServer();
try {
  if (wants('start')) rows.push(...(await measureStart(bench, model, rounds)));
  if (wants('loop')) rows.push(...(await measureLoop(bench, model, Math.max(1, Math.round(rounds / 5)))));
  if (wants('endurance')) rows.push(...(await measureEndurance(bench, model, Math.max(1, Math.round(rounds / 5)))));
  if (wants('events')) rows.push(...(await measureEvents(Math.max(1, Math.round(rounds / 5)))));
  if (wants('sessions')) rows.push(...(await measureSessions(Math.max(1, Math.round(rounds / 5)))));
  if (wants('plan')) rows.push(...(await measurePlan()));
  if (wants('mcp')) rows.push(...(await measureMcp(Math.max(1, Math.round(rounds / 5)))));
  if (wants('plugins')) rows.push(...(await measurePlugins(bench, Math.max(1, Math.round(rounds / 5)))));
} finally {
  await model.stop();
  await bench.remove();
}
console.log(`Node ${process.versions.node}, ${rounds} rounds\n\n${formatTable(rows)}`);
if (!rows.every(isKept)) process.exitCode = 1;
