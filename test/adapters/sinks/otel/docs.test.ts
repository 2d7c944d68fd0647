import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../adapters/clock/system.ts';
import { lossText } from '../../../../adapters/sinks/otel/exporter.ts';
import { UNITS } from '../../../../adapters/sinks/otel/histograms.ts';
import { ATTRIBUTE } from '../../../../adapters/sinks/otel/names.ts';
import otel from '../../../../adapters/sinks/otel.ts';

const page = readFileSync(new URL('../../../../docs/telemetry.md', import.meta.url), 'utf8');
const block = (kind: string): string => new RegExp(`^\`\`\`\\w+ ${kind}\n([\\s\\S]*?)\n\`\`\`$`, 'm').exec(page)?.[1] ?? expect.fail(kind);
const firstCells = [...page.matchAll(/^\| `([^`]+)` +\|/gm)].map(([, cell = '']) => cell);

describe('docs/telemetry.md', () => {
  it('shows a configuration that the sink takes', async () => {
    const { sinks } = JSON.parse(block('config')) as { readonly sinks: { readonly otel: Record<string, unknown> } };
    const http = { request: () => Promise.reject(new Error('not asked')), close: async () => {} };
    const sink = await otel.create(sinks.otel, { clock: createSystemClock(), http, log: expect.fail });
    await sink.close();
  });

  it('lists every attribute and every metric, and no other', () => {
    const listed = firstCells.filter((cell) => cell.includes('.'));
    expect(listed.sort()).toEqual([...Object.values(ATTRIBUTE), ...Object.keys(UNITS)].sort());
  });

  it('shows the line about losses as it is told', () => {
    const lost = { spans: 5, measurements: 9, why: 'connection refused' };
    expect(lossText('http://127.0.0.1:4318', lost)).toBe(block('loss'));
  });
});
